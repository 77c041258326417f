import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { packRows } from '../../src/selection/bit-matrix.ts';
import { isMethodName, select } from '../../src/selection/methods.ts';
import { collapse, passMatrix } from '../../src/selection/pass-matrix.ts';
import { surrogate } from '../../src/selection/surrogate.ts';
import { type Case, randomCases } from './cases.ts';

const SCRIPT = join(import.meta.dirname, '../../bench/reference/selection_reference.py');
const GOLDEN = join(import.meta.dirname, 'golden.json.gz');
const python = process.env.QUALITYFLOW_TEST_PYTHON ?? 'python3';
const withoutNumpy =
  spawnSync(python, ['-c', 'import numpy']).status === 0
    ? false
    : `${python} has no numpy: the golden numbers are compared instead`;

const judged = z.object({
  scores: z.array(z.number()),
  ranking: z.array(z.number()),
  groups: z.array(z.array(z.number())),
  weights: z.array(z.number()).optional(),
  looAuc: z.array(z.number()).optional(),
});
const reference = z.array(
  z
    .object({ surrogate: z.object({ objective: z.number(), gradient: z.array(z.number()) }) })
    .catchall(z.union([judged, z.unknown()])),
);

/** 1e-9 of the value, or of 1. */
function near(actual: ArrayLike<number>, expected: readonly number[], what: string): void {
  assert.equal(actual.length, expected.length, what);
  expected.forEach((value, at) => {
    const error = Math.abs((actual[at] ?? Number.NaN) - value);
    assert.ok(error <= 1e-9 * Math.max(1, Math.abs(value)), `${what}[${at}]: ${actual[at]} is not ${value}`);
  });
}

function compare(cases: readonly Case[], answers: z.infer<typeof reference>): void {
  assert.equal(answers.length, cases.length);
  cases.forEach(({ matrix, point, outputs }, index) => {
    const answer = answers[index];
    assert.ok(answer !== undefined);
    const collapsed = collapse(passMatrix(packRows(matrix)));
    const pool = {
      collapsed,
      seed: 0,
      outputs:
        outputs === undefined
          ? undefined
          : {
              values: outputs.map((row) => Int32Array.from(row, (value) => value ?? -1)),
              textOf: Int32Array.from(outputs.keys()),
            },
    };
    let methods = 0;
    for (const [name, found] of Object.entries(answer)) {
      if (!isMethodName(name)) continue;
      const expected = judged.parse(found);
      const selection = select(name, pool);
      const what = `case ${index}, ${name}`;
      near(selection.scores, expected.scores, `${what}: scores`);
      if (expected.weights !== undefined) near(selection.tests?.weights ?? [], expected.weights, `${what}: weights`);
      if (expected.looAuc !== undefined) near(selection.tests?.looAuc ?? [], expected.looAuc, `${what}: looAuc`);
      assert.deepEqual(selection.order, expected.ranking, `${what}: ranking`);
      assert.deepEqual(selection.groups, expected.groups, `${what}: groups`);
      methods++;
    }
    assert.equal(methods, outputs === undefined ? 6 : 7);
    // The reference moves every test's weight alone; here equal tests stand for one another.
    const whole = collapse(passMatrix(packRows(matrix)));
    if (whole.byTest.rows !== point.length) return;
    const ours = surrogate(
      whole,
      Float64Array.from(whole.columnKind.keys(), (kind) => point[whole.columnKind.indexOf(kind)] ?? 0),
    );
    near([ours.objective], [answer.surrogate.objective], `case ${index}: objective`);
    const passRates = matrix[0]?.map(
      (_, column) => matrix.reduce((sum, row) => sum + (row[column] ?? 0), 0) / matrix.length,
    );
    whole.columnKind.forEach((kind, column) => {
      const rate = passRates?.[column] ?? 0;
      if (rate > 0 && rate < 1)
        near(
          [ours.gradient[kind] ?? 0],
          [answer.surrogate.gradient[column] ?? 0],
          `case ${index}: gradient[${column}]`,
        );
    });
  });
}

function askReference(cases: readonly Case[]): z.infer<typeof reference> {
  const run = spawnSync(python, [SCRIPT, 'golden'], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  assert.equal(run.status, 0, run.stderr);
  return reference.parse(JSON.parse(run.stdout));
}

const goldenCases = randomCases({ count: 200, seed: 20260403, most: 10 });

// QUALITYFLOW_WRITE_GOLDEN=1 writes the file anew from the reference.
if (process.env.QUALITYFLOW_WRITE_GOLDEN === '1') {
  const rounded = JSON.stringify(askReference(goldenCases), (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(12)) : value,
  );
  writeFileSync(GOLDEN, gzipSync(rounded, { level: 9 }));
}

test('every method agrees with the numpy reference on 200 matrices, by its recorded numbers', () => {
  compare(goldenCases, reference.parse(JSON.parse(gunzipSync(readFileSync(GOLDEN)).toString('utf8'))));
});

test('every method agrees with the numpy reference on 200 fresh, larger matrices', { skip: withoutNumpy }, () => {
  const cases = randomCases({ count: 200, seed: 7, most: 15 });
  compare(cases, askReference(cases));
});
