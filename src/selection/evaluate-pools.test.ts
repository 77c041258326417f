import assert from 'node:assert/strict';
import test from 'node:test';
import { packRows } from './bit-matrix.ts';
import { evaluatePools, type GradedPool } from './evaluate-pools.ts';
import { passMatrix } from './pass-matrix.ts';
import { testCurve } from './test-curve.ts';

const pool = (matrix: number[][], correct: number[]): GradedPool => ({
  matrix: passMatrix(packRows(matrix)),
  correct: correct.map((value) => value === 1),
});

const good = pool(
  [
    [1, 1, 1],
    [1, 1, 0],
    [0, 0, 1],
    [0, 0, 0],
  ],
  [1, 1, 0, 0],
);
const misled = pool(
  [
    [1, 1],
    [0, 0],
    [1, 1],
  ],
  [0, 1, 0],
);
const untested = pool([[], []], [1, 0]);

test('figures are means over pools; a pool without tests counts as a random choice', () => {
  const { methods } = evaluatePools({ pools: [good, misled, untested], methods: ['majority'], ks: [1, 2, 3], seed: 0 });
  assert.deepEqual(methods.majority?.passAt, { 1: 0.5, 2: 2 / 3, 3: null });
  assert.deepEqual(methods.majority?.passAtIndexOrder, { 1: 2 / 3, 2: 2 / 3, 3: null });
  assert.equal(methods.majority?.interval95[3], null);
  const [low, high] = [methods.majority?.interval95[1]?.low ?? 1, methods.majority?.interval95[1]?.high ?? 0];
  assert.ok(low < 0.5 && 0.5 < high);
});

test('diagnosis leaves out pools in which nothing separates right from wrong', () => {
  const { diagnosis } = evaluatePools({ pools: [good, misled, untested], methods: ['aces-c'], ks: [1], seed: 0 });
  assert.equal(diagnosis.pools, 2);
  assert.deepEqual([diagnosis.informative, diagnosis.misleading], [2 / 5, 2 / 5]);
  assert.deepEqual(
    diagnosis.quintiles.map(({ pools, passAt1 }) => [pools, passAt1['aces-c']]),
    [
      [0, null],
      [1, 0],
      [0, null],
      [1, 1],
      [0, null],
    ],
  );
});

test('the figures do not depend on the order of the pools', () => {
  const run = (pools: GradedPool[]) => evaluatePools({ pools, methods: ['aces-o', 'codet'], ks: [1], seed: 5 });
  assert.deepEqual(run([good, misled, untested]), run([untested, good, misled]));
});

test('the curve ends at the figure of all tests', () => {
  const pools = [good, misled, untested];
  const { methods } = evaluatePools({ pools, methods: ['codet'], ks: [1], seed: 0 });
  const curve = testCurve({ pools, row: 'codet', seed: 0 });
  assert.deepEqual(
    curve.map(({ tests }) => tests),
    [1, 2, 3],
  );
  const last = curve.at(-1)?.passAt1 ?? Number.NaN;
  assert.ok(Math.abs(last - (methods.codet?.passAt[1] ?? 0)) < 1e-12);
});
