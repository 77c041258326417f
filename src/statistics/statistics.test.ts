import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { headline } from './headline.ts';
import { wilsonInterval } from './intervals.ts';
import { meanPassAtK, passAtK } from './pass-at-k.ts';

const near = (actual: number | null | undefined, expected: number, tolerance = 1e-12) =>
  assert.ok(typeof actual === 'number' && Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

/** Every k-subset of n samples, counted one by one. */
function passAtKByEnumeration({ n, c, k }: { n: number; c: number; k: number }): number {
  let subsets = 0;
  let hits = 0;
  for (let mask = 0; mask < 1 << n; mask++) {
    const members = [...Array(n).keys()].filter((i) => mask & (1 << i));
    if (members.length !== k) continue;
    subsets++;
    if (members.some((i) => i < c)) hits++;
  }
  return hits / subsets;
}

test('fewer samples than k give null, never 1', () => {
  for (const [n, c, k] of [
    [2, 0, 5],
    [2, 2, 5],
    [0, 0, 1],
    [5, 3, 0],
    [0, 0, 0],
  ] as const) {
    assert.equal(passAtK({ n, c, k }), null, `n=${n} c=${c} k=${k}`);
  }
});

test('known values of the estimator', () => {
  assert.equal(passAtK({ n: 5, c: 5, k: 5 }), 1);
  assert.equal(passAtK({ n: 5, c: 0, k: 5 }), 0);
  assert.equal(passAtK({ n: 200, c: 0, k: 100 }), 0);
  near(passAtK({ n: 200, c: 1, k: 100 }), 0.5);
  near(passAtK({ n: 4, c: 2, k: 2 }), 5 / 6);
});

test('impossible counts are refused', () => {
  for (const bad of [
    { n: 1, c: 2, k: 1 },
    { n: -1, c: -1, k: 1 },
    { n: 1.5, c: 1, k: 1 },
    { n: 1, c: -1, k: 1 },
    { n: 1, c: 1, k: Number.NaN },
  ]) {
    assert.throws(() => passAtK(bad), RangeError);
  }
});

const counts = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.nat(), fc.nat())
  .map(([n, c, k]) => ({ n, c: c % (n + 1), k: 1 + (k % n) }));

test('the product form equals counting subsets', () => {
  fc.assert(
    fc.property(counts, (x) => near(passAtK(x), passAtKByEnumeration(x), 1e-9)),
    { numRuns: 150 },
  );
});

test('pass@1 is c / n, and pass@k grows with c and with k', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 300 }), fc.nat(), fc.nat(), (n, c0, k0) => {
      const c = c0 % n;
      const k = 1 + (k0 % (n - 1));
      near(passAtK({ n, c, k: 1 }), c / n, 1e-12);
      const here = passAtK({ n, c, k }) ?? Number.NaN;
      assert.ok((passAtK({ n, c: c + 1, k }) ?? Number.NaN) >= here - 1e-12);
      assert.ok((passAtK({ n, c, k: k + 1 }) ?? Number.NaN) >= here - 1e-12);
      assert.ok(here >= 0 && here <= 1);
    }),
  );
});

test('the mean leaves no task out', () => {
  near(
    meanPassAtK(
      [
        { n: 1, c: 1 },
        { n: 1, c: 0 },
      ],
      1,
    ),
    0.5,
  );
  assert.equal(
    meanPassAtK(
      [
        { n: 5, c: 5 },
        { n: 1, c: 1 },
      ],
      5,
    ),
    null,
  );
  assert.equal(meanPassAtK([], 1), null);
});

test("Wilson's interval: published values, and never past 0 or 1", () => {
  // Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
  for (const [successes, trials, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    const interval = wilsonInterval({ successes, trials });
    near(interval?.low, low, 5e-5);
    near(interval?.high, high, 5e-5);
  }
  assert.equal(wilsonInterval({ successes: 0, trials: 0 }), null);
  assert.throws(() => wilsonInterval({ successes: 3, trials: 2 }), RangeError);
});

test('Wilson holds the observed share and narrows with more trials', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(), (trials, s) => {
      const successes = s % (trials + 1);
      const one = wilsonInterval({ successes, trials });
      const ten = wilsonInterval({ successes: successes * 10, trials: trials * 10 });
      assert.ok(one && ten);
      const p = successes / trials;
      assert.ok(0 <= one.low && one.low <= p && p <= one.high && one.high <= 1);
      assert.ok(ten.high - ten.low < one.high - one.low);
    }),
  );
});

test('a finished sweep has one value; an unfinished one lies between all-fail and all-pass', () => {
  const done = headline(
    [
      { n: 1, c: 1, open: 0 },
      { n: 1, c: 0, open: 0 },
    ],
    1,
  );
  assert.deepEqual([done?.value, done?.low, done?.high], [0.5, 0.5, 0.5]);
  const half = headline(
    [
      { n: 1, c: 1, open: 0 },
      { n: 1, c: 0, open: 1 },
      { n: 1, c: 0, open: 0 },
      { n: 1, c: 0, open: 1 },
    ],
    1,
  );
  assert.deepEqual([half?.value, half?.low, half?.high], [0.5, 0.25, 0.75]);
  const nothing = headline([{ n: 1, c: 0, open: 1 }], 1);
  assert.deepEqual(nothing, { value: null, low: 0, high: 1, interval95: null });
  assert.equal(headline([{ n: 3, c: 0, open: 0 }], 5), null);
});

test('the value always lies within its bounds and its sampling interval', () => {
  const tasks = fc.array(
    fc.tuple(fc.nat(10), fc.nat(10)).map(([a, b]) => ({ n: 10, c: Math.min(a, b), open: 10 - Math.max(a, b) })),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(tasks, fc.integer({ min: 1, max: 10 }), (list, k) => {
      const result = headline(list, k);
      assert.ok(result && 0 <= result.low && result.low <= result.high && result.high <= 1 + 1e-12);
      if (result.value === null || result.interval95 === null) return;
      assert.ok(result.low <= result.value && result.value <= result.high);
      assert.ok(result.interval95.low <= result.value + 1e-9 && result.value - 1e-9 <= result.interval95.high);
    }),
  );
});
