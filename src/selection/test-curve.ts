import { type BitMatrix, bitAt, bitMatrix, setBit } from './bit-matrix.ts';
import type { GradedPool } from './evaluate-pools.ts';
import { rankedPassAt } from './pass-at.ts';
import { passMatrix } from './pass-matrix.ts';
import { seededRandom, shuffledIndexes } from './seeded.ts';
import { type Row, selectPool } from './select-pool.ts';

const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500];
/** Drawings of a size; the mean of five is steady to about a point over a hundred tasks. */
const DRAWS = 5;

export interface CurvePoint {
  tests: number;
  /** Mean pass@1, tie-aware. */
  passAt1: number;
}

/** Pass@1 of a method when each pool keeps only so many of its tests, drawn by the seed; the last point has them all. */
export function testCurve(input: { pools: readonly GradedPool[]; row: Row; seed: number }): CurvePoint[] {
  const { pools, row, seed } = input;
  const most = pools.reduce((max, { matrix }) => Math.max(max, matrix.bits.columns), 0);
  const sizes = [...SIZES.filter((size) => size < most), most].filter((size) => size > 0);
  return sizes.map((size) => {
    let [sum, count] = [0, 0];
    for (const [index, pool] of pools.entries()) {
      const { bits, columnCounts, rowCounts } = pool.matrix;
      for (let draw = 0; draw < (size >= bits.columns ? 1 : DRAWS); draw++) {
        const chosen = shuffledIndexes(bits.columns, seededRandom(seed + 7919 * index + draw)).slice(0, size);
        const counts = { rows: rowCounts, columns: chosen.map((test) => columnCounts[test] ?? 1) };
        const matrix = passMatrix(pickColumns(bits, chosen), counts);
        const { groups, rankedGroups } = selectPool(row, { ...pool, matrix }, seed);
        // A pool that has fewer tests counts as often as one that has them all.
        const weight = size >= bits.columns ? DRAWS : 1;
        sum += weight * (rankedPassAt({ groups, rankedGroups, correct: pool.correct, k: 1 }).tieAware ?? 0);
        count += weight;
      }
    }
    return { tests: size, passAt1: count === 0 ? 0 : sum / count };
  });
}

function pickColumns(bits: BitMatrix, columns: readonly number[]): BitMatrix {
  const picked = bitMatrix({ rows: bits.rows, columns: columns.length });
  for (let row = 0; row < bits.rows; row++)
    columns.forEach((column, to) => {
      if (bitAt(bits, row, column) === 1) setBit(picked, row, to);
    });
  return picked;
}
