import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AT_EASE, adaptToLatency, type LatencyLimit } from './latency-limit.ts';

/** In [0, 1), the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

interface Server {
  /** Requests that it works on at once; the others queue. */
  capacity: (nowMs: number) => number;
  /** Of a token of reply, in ms, at this time. */
  tokenMs: (nowMs: number) => number;
}

/** As many requests under way as the limit of the moment allows, with replies of 50 to 1050 tokens. Returns the limit and the speed over time. */
function simulate({
  server,
  configured,
  untilMs,
  demand = Number.POSITIVE_INFINITY,
  seed = 1,
}: {
  server: Server;
  configured: number;
  untilMs: number;
  demand?: number;
  seed?: number;
}): { limits: { atMs: number; limit: number }[]; answers: { atMs: number; tookMs: number }[] } {
  const random = seeded(seed);
  let state: LatencyLimit = AT_EASE;
  const effective = () => Math.min(state.limit, configured);
  const queued: { startedAtMs: number; tokens: number }[] = [];
  const served: { startedAtMs: number; tokens: number; endsAtMs: number }[] = [];
  const limits: { atMs: number; limit: number }[] = [];
  const answers: { atMs: number; tookMs: number }[] = [];
  for (let nowMs = 0; nowMs < untilMs; nowMs += 10) {
    for (const one of served.filter(({ endsAtMs }) => endsAtMs <= nowMs)) {
      served.splice(served.indexOf(one), 1);
      const input = { startedAtMs: one.startedAtMs, completionTokens: one.tokens, nowMs };
      state = adaptToLatency(state, { ...input, effective: effective(), configured });
      answers.push({ atMs: nowMs, tookMs: nowMs - one.startedAtMs });
    }
    while (queued.length + served.length < Math.min(demand, effective()))
      queued.push({ startedAtMs: nowMs, tokens: 50 + Math.floor(random() * 1000) });
    while (served.length < server.capacity(nowMs)) {
      const next = queued.shift();
      if (next === undefined) break;
      const noise = 0.7 + 0.6 * random();
      served.push({ ...next, endsAtMs: nowMs + (300 + next.tokens * server.tokenMs(nowMs)) * noise });
    }
    limits.push({ atMs: nowMs, limit: effective() });
  }
  return { limits, answers };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

for (const capacity of [8, 12, 16]) {
  test(`an endpoint that works on ${capacity} at once and queues the rest is not sent fifty`, () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const { limits, answers } = simulate({
        server: { capacity: () => capacity, tokenMs: () => 5 },
        configured: 50,
        untilMs: 900_000,
        seed,
      });
      const settled = mean(limits.filter(({ atMs }) => atMs > 400_000).map(({ limit }) => limit));
      assert.ok(settled >= capacity && settled <= 3 * capacity + 3, `seed ${seed}: ${settled}`);
      const late = answers.filter(({ atMs }) => atMs > 400_000).length / 500;
      const ideal = (capacity / (300 + 550 * 5)) * 1000;
      assert.ok(late > 0.93 * ideal, `seed ${seed}: ${late} a second of ${ideal}`);
    }
  });
}

test('a healthy endpoint with replies of every length and noisy latencies keeps its throughput', () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const { limits, answers } = simulate({
      server: { capacity: () => 1000, tokenMs: () => 5 },
      configured: 50,
      untilMs: 900_000,
      seed,
    });
    assert.ok(mean(limits.map(({ limit }) => limit)) > 48, `seed ${seed}`);
    assert.ok(answers.length > (0.95 * (900_000 * 50)) / (300 + 550 * 5));
  }
});

test('a healthy endpoint that becomes three times slower for everybody is tried once, and then sent as many as ever', () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const { limits } = simulate({
      server: { capacity: () => 1000, tokenMs: (nowMs) => (nowMs < 200_000 ? 5 : 18) },
      configured: 50,
      untilMs: 900_000,
      seed,
    });
    const later = limits.filter(({ atMs }) => atMs > 400_000).map(({ limit }) => limit);
    assert.ok(mean(later) > 40, `seed ${seed}: ${mean(later)}`);
    assert.ok(Math.min(...limits.map(({ limit }) => limit)) >= 27, `seed ${seed}`);
  }
});

test('where the sweep asks for less than the limit, latency changes nothing', () => {
  const { limits } = simulate({
    server: { capacity: () => 3, tokenMs: () => 5 },
    configured: 50,
    untilMs: 300_000,
    demand: 20,
  });
  assert.ok(limits.every(({ limit }) => limit === 50));
});

test('an endpoint that gets more capacity is sent more again', () => {
  const { limits } = simulate({
    server: { capacity: (nowMs) => (nowMs < 600_000 ? 8 : 1000), tokenMs: () => 5 },
    configured: 50,
    untilMs: 1_500_000,
  });
  assert.ok(mean(limits.filter(({ atMs }) => atMs > 400_000 && atMs < 600_000).map(({ limit }) => limit)) < 21);
  assert.ok(mean(limits.filter(({ atMs }) => atMs > 1_200_000).map(({ limit }) => limit)) > 45);
});

test('a fast endpoint is left alone: what is measured there is this machine', () => {
  const { limits } = simulate({ server: { capacity: () => 8, tokenMs: () => 0.01 }, configured: 8, untilMs: 60_000 });
  assert.ok(limits.every(({ limit }) => limit === 8));
});
