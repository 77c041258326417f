import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { packRows } from './bit-matrix.ts';
import { type MethodName, select, usableMethods } from './methods.ts';
import { collapse, passMatrix } from './pass-matrix.ts';
import { surrogate } from './surrogate.ts';

const FIXTURE = [
  [1, 1, 1, 0],
  [1, 1, 1, 0],
  [1, 0, 0, 1],
  [0, 1, 0, 1],
  [0, 0, 0, 1],
  [1, 1, 0, 1],
];

const judge = (name: MethodName, matrix: number[][]) =>
  select(name, { collapsed: collapse(passMatrix(packRows(matrix))), seed: 0 });

const near = (actual: ArrayLike<number> | undefined, expected: number[], tolerance = 1e-12) => {
  assert.equal(actual?.length, expected.length);
  expected.forEach((value, at) => {
    const found = actual?.[at] ?? Number.NaN;
    assert.ok(Math.abs(found - value) <= tolerance, `${at}: ${found} is not ${value}`);
  });
};

describe('the fixture of six programs and four tests', () => {
  test('ACES-C', () => {
    const { tests, scores, groups } = judge('aces-c', FIXTURE);
    near(tests?.looAuc, [0.625, 0.625, 0.5, 0]);
    near(tests?.weights, [0.5, 0.5, 0, 0]);
    near(scores, [1, 1, 0.5, 0.5, 0, 1]);
    assert.deepEqual(groups, [[0, 1, 5], [2, 3], [4]]);
  });

  test('ACES-O keeps the good tests and lets the third come back', () => {
    const { tests, order } = judge('aces-o', FIXTURE);
    const [first = 0, second = 0, third = 0, fourth = 0] = tests?.weights ?? [];
    assert.equal(first, second);
    assert.ok(first > third && third > fourth && fourth < 1e-3, String(tests?.weights));
    assert.deepEqual(order.slice(0, 2), [0, 1]);
  });

  test('majority voting and CodeT', () => {
    near(judge('majority', FIXTURE).scores, [3, 3, 2, 2, 1, 3]);
    near(judge('codet', FIXTURE).scores, [Math.sqrt(2) * 3, Math.sqrt(2) * 3, 2, 2, 1, 3]);
  });

  test('MBR-exec without outputs counts equal pass patterns', () => {
    near(judge('mbr-exec', FIXTURE).scores, [2, 2, 1, 1, 1, 1]);
  });
});

test('outputs: MBR-exec votes on the first input, SRank weighs agreeing clusters', () => {
  const pool = {
    collapsed: collapse(
      passMatrix(
        packRows([
          [1, 1],
          [1, 1],
          [1, 0],
          [0, 0],
        ]),
      ),
    ),
    seed: 0,
    outputs: {
      values: [
        [7, 8],
        [7, 8],
        [7, 9],
        [-1, -1],
      ].map((values) => Int32Array.from(values)),
      // The first two are one text: one distinct program of two, so V = ½ · 1, and ½ · ½ for the third.
      textOf: Int32Array.from([0, 0, 1, 2]),
    },
  };
  near(select('mbr-exec', pool).scores, [3, 3, 3, 0]);
  near(select('srank', pool).scores, [0.625, 0.625, 0.5, 0]);
  assert.ok(!usableMethods({ outputs: false }).includes('srank'));
});

test('pools without a test, without a difference, or of one program: all are equal, nothing throws', () => {
  for (const matrix of [
    [[], []],
    [
      [1, 1],
      [1, 1],
    ],
    [[0], [0]],
    [[1, 0]],
  ]) {
    for (const name of usableMethods({ outputs: false })) {
      const { groups, scores, tests, rankedGroups } = judge(name, matrix);
      assert.equal(groups.length, 1, `${name} ${JSON.stringify(matrix)}`);
      assert.ok(scores.every(Number.isFinite), `${name} ${JSON.stringify(matrix)}`);
      assert.ok(tests?.weights.every(Number.isFinite) ?? true);
      assert.ok(tests?.looAuc.every((value) => value === 0.5) ?? true);
      if (name === 'codet') assert.equal(rankedGroups.length, matrix.some((row) => row.includes(1)) ? 1 : 0);
    }
  }
});

test('the seed alone decides the order of random', () => {
  const order = (seed: number) =>
    select('random', { collapsed: collapse(passMatrix(packRows(FIXTURE))), seed }).order.join();
  assert.equal(order(1), order(1));
  assert.notEqual(new Set([1, 2, 3, 4, 5].map(order)).size, 1);
});

const cells = fc
  .record({ rows: fc.integer({ min: 1, max: 7 }), columns: fc.integer({ min: 1, max: 40 }) })
  .chain(({ rows, columns }) =>
    fc.record({
      matrix: fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: columns, maxLength: columns }), {
        minLength: rows,
        maxLength: rows,
      }),
      rows: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: rows, maxLength: rows }),
      columns: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: columns, maxLength: columns }),
    }),
  );

test('multiplicities mean the same as rows and columns that stand there several times', () => {
  fc.assert(
    fc.property(cells, ({ matrix, rows, columns }) => {
      const repeat = <T>(items: T[], counts: number[]) =>
        items.flatMap((item, at) => Array<T>(counts[at] ?? 1).fill(item));
      const whole = repeat(matrix, rows).map((row) => repeat(row, columns));
      const [firstRow, firstColumn] = [rows, columns].map((counts) =>
        counts.map((_, at) => counts.slice(0, at).reduce((sum, count) => sum + count, 0)),
      );
      for (const name of usableMethods({ outputs: false })) {
        const short = select(name, { collapsed: collapse(passMatrix(packRows(matrix), { rows, columns })), seed: 0 });
        const long = judge(name, whole);
        near(short.scores, firstRow?.map((at) => long.scores[at] ?? Number.NaN) ?? [], 1e-9);
        if (short.tests === undefined) continue;
        near(short.tests.weights, firstColumn?.map((at) => long.tests?.weights[at] ?? Number.NaN) ?? [], 1e-9);
        near(short.tests.looAuc, firstColumn?.map((at) => long.tests?.looAuc[at] ?? Number.NaN) ?? [], 1e-9);
      }
    }),
    { numRuns: 60, seed: 3 },
  );
});

test('the gradient of the surrogate is what finite differences say', () => {
  fc.assert(
    fc.property(cells, fc.infiniteStream(fc.double({ min: 0.01, max: 1, noNaN: true })), ({ matrix, rows }, draws) => {
      const collapsed = collapse(passMatrix(packRows(matrix), { rows }));
      const raw = Float64Array.from(collapsed.columnCounts, () => draws.next().value ?? 1);
      const total = raw.reduce((sum, value, at) => sum + value * (collapsed.columnCounts[at] ?? 0), 0);
      const weights = raw.map((value) => value / total);
      const { gradient } = surrogate(collapsed, weights);
      const step = 1e-6;
      weights.forEach((_, test) => {
        // All tests of a kind move together here, so the slope is that of one times how many they are.
        const moved = (by: number) =>
          surrogate(
            collapsed,
            weights.map((value, at) => value + (at === test ? by : 0)),
          ).objective;
        const slope = (moved(step) - moved(-step)) / (2 * step * (collapsed.columnCounts[test] ?? 1));
        const passes = collapsed.passes[test] ?? 0;
        if (passes === 0 || passes === collapsed.programs) return;
        near([gradient[test] ?? Number.NaN], [slope], 1e-6);
      });
    }),
    { numRuns: 60, seed: 4 },
  );
});
