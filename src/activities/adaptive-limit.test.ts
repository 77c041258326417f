import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AdaptiveLimit, adapt, REACTION_MS, type RequestEnd, UNLIMITED } from './adaptive-limit.ts';

const effective = (limit: AdaptiveLimit, configured: number) => Math.min(limit.limit, configured);

/**
 * A closed loop: as many requests under way as the limit allows, each ending after `latencyMs` as `endpoint` says. Returns the limit
 * at every end.
 */
function simulate(input: {
  configured: number;
  latencyMs: number;
  untilMs: number;
  from?: AdaptiveLimit;
  startMs?: number;
  endpoint: (nowMs: number, open: number) => RequestEnd['kind'];
}): { limit: AdaptiveLimit; trace: { atMs: number; limit: number; answered: boolean }[] } {
  let limit = input.from ?? UNLIMITED;
  const trace: { atMs: number; limit: number; answered: boolean }[] = [];
  const open: { startedAtMs: number; kind: RequestEnd['kind'] }[] = [];
  for (let nowMs = input.startMs ?? 0; nowMs < input.untilMs; nowMs += 10) {
    while (open[0] !== undefined && open[0].startedAtMs + input.latencyMs <= nowMs) {
      const { startedAtMs, kind } = open.shift() ?? assert.fail();
      limit = adapt(limit, { kind, startedAtMs, nowMs, configured: input.configured });
      trace.push({ atMs: nowMs, limit: effective(limit, input.configured), answered: kind === 'answered' });
    }
    while (open.length < effective(limit, input.configured))
      open.push({ startedAtMs: nowMs, kind: input.endpoint(nowMs, open.length + 1) });
  }
  return { limit, trace };
}

test('an endpoint that answers is never limited below what is configured', () => {
  const { trace } = simulate({ configured: 20, latencyMs: 500, untilMs: 60_000, endpoint: () => 'answered' });
  assert.ok(trace.every(({ limit }) => limit === 20));
});

test('one burst of failures is one cut: what was under way says nothing about the new limit', () => {
  let limit = UNLIMITED;
  for (let index = 0; index < 20; index++)
    limit = adapt(limit, { kind: 'rate_limited', startedAtMs: index, nowMs: 5000 + index, configured: 20 });
  assert.equal(limit.limit, 10);
  const late = adapt(limit, { kind: 'answered', startedAtMs: 100, nowMs: 9000, configured: 20 });
  assert.equal(late.limit, 10);
  assert.equal(late.changed, false);
});

test('every change says why, and nothing else does', () => {
  const cut = adapt(UNLIMITED, { kind: 'rate_limited', startedAtMs: 0, nowMs: 10, configured: 4 });
  assert.deepEqual([cut.limit, cut.changed, cut.reason], [2, true, 'too many requests (429)']);
  const grown = adapt({ ...cut, threshold: 4 }, { kind: 'answered', startedAtMs: 20, nowMs: 30, configured: 4 });
  assert.deepEqual([grown.limit, grown.changed, grown.reason], [3, true, 'the endpoint answers']);
  const floor = adapt({ ...cut, limit: 1 }, { kind: 'unavailable', startedAtMs: 5000, nowMs: 5001, configured: 4 });
  assert.deepEqual([floor.limit, floor.changed, floor.reason], [1, false, '']);
});

test('ten minutes of 429s with hints longer than any gap: down to 1, and back up after them', () => {
  const away = simulate({ configured: 20, latencyMs: 300, untilMs: 600_000, endpoint: () => 'rate_limited' });
  assert.equal(effective(away.limit, 20), 1);
  const back = simulate({
    configured: 20,
    latencyMs: 300,
    startMs: 600_000,
    untilMs: 640_000,
    from: away.limit,
    endpoint: () => 'answered',
  });
  assert.equal(effective(back.limit, 20), 20);
});

for (const { kind, configured } of [
  { kind: 'rate_limited', configured: 20 },
  { kind: 'rate_limited', configured: 100 },
  { kind: 'unavailable', configured: 20 },
  { kind: 'unavailable', configured: 100 },
] as const) {
  test(`a minute of ${kind}, then a 2 s model: 90 % of ${configured} within 30 s`, () => {
    const { trace } = simulate({
      configured,
      latencyMs: 2000,
      untilMs: 95_000,
      endpoint: (nowMs) => (nowMs < 60_000 ? kind : 'answered'),
    });
    assert.equal(trace.findLast(({ atMs }) => atMs < 60_000)?.limit, 1);
    const at = trace.find(({ atMs, limit }) => atMs > 62_000 && limit >= 0.9 * configured)?.atMs ?? Infinity;
    assert.ok(at <= 90_000, `after ${(at - 60_000) / 1000} s`);
  });
}

test('an endpoint that takes eight at once is kept near eight', () => {
  const { trace } = simulate({
    configured: 50,
    latencyMs: 400,
    untilMs: 300_000,
    endpoint: (_, open) => (open > 8 ? 'rate_limited' : 'answered'),
  });
  const settled = trace.filter(({ atMs }) => atMs > 60_000);
  const mean = settled.reduce((sum, { limit }) => sum + limit, 0) / settled.length;
  assert.ok(mean > 4 && mean < 12, `mean limit ${mean}`);
  const answered = settled.filter((end) => end.answered).length / settled.length;
  assert.ok(answered > 0.8, `${answered} answered`);
});

test('whatever happens, the limit stays between 1 and the configured one, and is cut at most once a reaction time', () => {
  const end = fc.record({
    kind: fc.constantFrom<RequestEnd['kind'][]>('answered', 'rate_limited', 'unavailable'),
    lastedMs: fc.nat(3000),
    gapMs: fc.nat(400),
    configured: fc.integer({ min: 1, max: 64 }),
  });
  fc.assert(
    fc.property(fc.array(end, { maxLength: 300 }), (ends) => {
      let limit = UNLIMITED;
      let nowMs = 0;
      let cutAtMs = Number.NEGATIVE_INFINITY;
      for (const { kind, lastedMs, gapMs, configured } of ends) {
        nowMs += gapMs;
        const before = effective(limit, configured);
        limit = adapt(limit, { kind, startedAtMs: nowMs - lastedMs, nowMs, configured });
        const after = effective(limit, configured);
        assert.ok(after >= 1 && after <= configured && Number.isInteger(after));
        if (after < before) {
          assert.notEqual(kind, 'answered');
          assert.ok(nowMs >= cutAtMs + REACTION_MS);
          cutAtMs = nowMs;
        }
        if (kind !== 'answered') assert.ok(after <= before);
      }
    }),
  );
});
