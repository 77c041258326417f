import assert from 'node:assert/strict';
import test from 'node:test';
import { packRows } from './bit-matrix.ts';
import { byQuintile, testPower, weightQuality } from './diagnose.ts';
import { select } from './methods.ts';
import { collapse, passMatrix } from './pass-matrix.ts';
import { reportTests } from './test-report.ts';

const bits = packRows([
  [1, 0, 1],
  [1, 0, 1],
  [0, 1, 1],
  [1, 1, 1],
]);
const correct = [true, true, false, false];

test('α, β and δ of each test, from the labels', () => {
  const power = testPower({ bits, correct });
  assert.deepEqual(power && [power.alpha, power.beta, power.delta].map((values) => [...values]), [
    [1, 0, 1],
    [0.5, 1, 1],
    [0.5, -1, 0],
  ]);
  assert.ok(power !== null && Math.abs(power.meanDelta + 0.5 / 3) < 1e-15);
});

test('a pool that is all right, all wrong, or without tests has no δ', () => {
  assert.equal(testPower({ bits, correct: [1, 1, 1, 1] }), null);
  assert.equal(testPower({ bits, correct: [0, 0, 0, 0] }), null);
  assert.equal(testPower({ bits: packRows([[], []]), correct: [1, 0] }), null);
});

test('recall of informative tests, and weight on misleading ones', () => {
  const power = testPower({ bits, correct });
  assert.ok(power !== null);
  assert.deepEqual(weightQuality(power, [0.75, 0.25, 0]), { informativeRecall: 1, misleadingWeight: 0.25 });
  assert.deepEqual(weightQuality(power, [1e-9, 1, 0]), { informativeRecall: 0, misleadingWeight: 1 });
});

test('quintiles go from the worst tests to the best', () => {
  const tasks = [5, 3, 1, 2, 4, 0].map((value) => ({ meanDelta: value / 10, value }));
  const parts = byQuintile(tasks, (task) => task.value);
  assert.deepEqual(
    parts.map((part) => [part.tasks, part.value]),
    [
      [1, 0],
      [1, 1],
      [2, 2.5],
      [1, 4],
      [1, 5],
    ],
  );
  assert.deepEqual(
    byQuintile([], () => 1).map((part) => part.value),
    [null, null, null, null, null],
  );
});

test('the report of tests names those that decided and those that mislead', () => {
  const matrix = packRows([
    [1, 1, 1, 0],
    [1, 1, 1, 0],
    [1, 0, 0, 1],
    [0, 1, 0, 1],
    [0, 0, 0, 1],
    [1, 1, 0, 1],
  ]);
  const collapsed = collapse(passMatrix(matrix));
  const lines = reportTests({
    bits: matrix,
    passRates: [4, 4, 2, 4].map((passes) => passes / 6),
    selection: select('aces-c', { collapsed, seed: 0 }),
  });
  assert.deepEqual(
    lines?.map(({ test: index, misleading, decided }) => [index, misleading, decided]),
    [
      [0, false, false],
      [1, false, true],
      [2, false, false],
      [3, true, false],
    ],
  );
  assert.equal(
    reportTests({ bits: matrix, passRates: [], selection: select('codet', { collapsed, seed: 0 }) }),
    undefined,
  );
});
