import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSpecValue } from './parse-spec.ts';
import { planRequests } from './plan.ts';

const defaultMaxTokens = {
  generator: 100,
  imaginedExecution: 100,
  critic: 100,
  testDesigner: 100,
  testJudge: 100,
  selfDebugger: 100,
  clarifier: 100,
};

function plan(strategy: unknown, visibleTests: number[], change: Record<string, unknown> = {}) {
  const parsed = parseSpecValue({ name: 'a', benchmark: 'humaneval', model: 'm', strategy, ...change });
  if (parsed.kind !== 'spec') return assert.fail(JSON.stringify(parsed.problems));
  return planRequests(parsed.spec, {
    tasks: visibleTests.map((count) => ({ visibleTests: count, bytes: 600 })),
    defaultMaxTokens,
  });
}

test('zero-shot: one request a sample, two when a reply cannot be used', () => {
  assert.deepEqual(plan('zero-shot', [3, 0], { samples: 5 }).requests, { least: 10, acceptedAtOnce: 10, most: 20 });
});

test('select: every draw and every query once, twice when no reply can be used; without a program no test is asked for', () => {
  const strategy = { kind: 'select', programs: 10, tests: { queries: 5 } };
  assert.deepEqual(plan(strategy, [3, 0]).requests, { least: 30, acceptedAtOnce: 30, most: 60 });
  assert.equal(plan({ kind: 'select', programs: 2 }, [3]).requests.least, 4);
});

test('QualityFlow at its longest, one progression, counted by hand', () => {
  const strategy = { kind: 'quality-flow', diversified: 1, tests: { queries: 1, perQuery: 10 }, clarifierAttempts: 1 };
  // generated, debug 1–3, clarified: 5 programs × 3 tests × 3 turns = 45; generate 2, clarify 1, debug 3, design 1, judge 10, each asked twice.
  const { least, acceptedAtOnce, most } = plan(strategy, [3]).requests;
  assert.equal(most, 45 + 2 * (2 + 1 + 3 + 1 + 10));
  assert.equal(acceptedAtOnce, 1 + 3 * 2);
  assert.equal(least, 2, 'a generator without code ends the run after being asked twice');
});

test('all six programs are checked before any test is designed', () => {
  assert.equal(plan('standard', [3]).requests.acceptedAtOnce, 6 + 6 * 3 * 2);
  assert.equal(plan('relaxed', [3]).requests.acceptedAtOnce, 6);
});

test('without a visible test nothing is accepted, so the flow goes on to its end', () => {
  const { least, most } = plan({ kind: 'quality-flow', diversified: 1 }, [0]).requests;
  assert.equal(least, 2);
  assert.equal(most, 2 * (1 + 5 + 50 + 3 + 3 + 3));
});

test('switches cut their own requests and no others', () => {
  const most = (options: object) => plan({ kind: 'quality-flow', ...options }, [1]).requests.most;
  const whole = most({});
  assert.equal(whole - most({ tqc: false }), 2 * 50);
  assert.equal(whole - most({ debugEpochs: 0 }), 2 * 6 * 3 + 6 * 3 * 3);
  assert.equal(whole - most({ clarifier: false }), 2 * (6 * 3 * 2) + 6 * 3 * 3);
  assert.equal(most({ tests: { shared: false } }) - whole, 2 * 5 * (5 + 50));
  assert.equal(most({ checker: 'critic' }), whole - 3 * 42 + 2 * 42);
});

test('tokens: bounded by the declared context, and least never above most', () => {
  const small = plan('standard', [3], { model: { name: 'm', contextTokens: 1000 } });
  assert.ok(small.tokens.most <= small.requests.most * 1000);
  const free = plan('standard', [3]);
  assert.ok(free.tokens.most > small.tokens.most);
  assert.ok(free.tokens.least > 0 && free.tokens.least < free.tokens.most);
  const short = plan('zero-shot', [3], { model: { name: 'm', parameters: { max_tokens: 10 } } });
  const long = plan('zero-shot', [3], {
    model: { name: 'm', parameters: { max_tokens: 10 }, maxTokens: { generator: 500 } },
  });
  assert.ok(long.tokens.most > short.tokens.most);
});

test('money follows the prices, prompt and completion apart; without prices there is none', () => {
  assert.equal(plan('zero-shot', [3]).usd, null);
  const priced = (prompt: number, completion: number) => plan('standard', [3, 1], { prices: { prompt, completion } });
  const { tokens, usd } = priced(1, 1);
  const close = (a: number | undefined, b: number) =>
    assert.ok(Math.abs((a ?? Number.NaN) - b) < 1e-9, `${a} is not ${b}`);
  close(usd?.most, tokens.most / 1e6);
  close(usd?.least, tokens.least / 1e6);
  close((priced(1, 0).usd?.most ?? 0) + (priced(0, 1).usd?.most ?? 0), usd?.most ?? 0);
  close(priced(0, 1).usd?.most, (priced(0, 1).requests.most * 100) / 1e6);
  assert.equal(priced(0, 1).usd?.least, 0);
});
