import { type BitMatrix, bitMatrix, distinctRows, transpose } from './bit-matrix.ts';

/** Which program (row) passes which test (column). */
export interface PassMatrix {
  bits: BitMatrix;
  /** How many programs a row stands for; whole numbers from 1. */
  rowCounts: Float64Array;
  /** How many tests a column stands for; whole numbers from 1. */
  columnCounts: Float64Array;
}

/**
 * A pass matrix with equal rows and equal columns laid together. Every method gives the same result on it as on the matrix that it came
 * from, at the cost of its distinct rows and columns only.
 */
export interface CollapsedMatrix {
  /** Distinct tests × distinct programs: a test's row holds who passes it. */
  byTest: BitMatrix;
  /** Programs of each kind. */
  rowCounts: Float64Array;
  /** Tests of each kind. */
  columnCounts: Float64Array;
  /** Kind of every program, and of every test, of the original. */
  rowKind: Int32Array;
  columnKind: Int32Array;
  /** Programs, tests: multiplicities summed. */
  programs: number;
  tests: number;
  /** Programs that pass a test of each kind, multiplicities counted. */
  passes: Float64Array;
}

export function passMatrix(
  bits: BitMatrix,
  counts: { rows?: ArrayLike<number> | undefined; columns?: ArrayLike<number> | undefined } = {},
): PassMatrix {
  const ones = (length: number) => new Float64Array(length).fill(1);
  return {
    bits,
    rowCounts: counts.rows === undefined ? ones(bits.rows) : Float64Array.from(counts.rows),
    columnCounts: counts.columns === undefined ? ones(bits.columns) : Float64Array.from(counts.columns),
  };
}

export function collapse({ bits, rowCounts, columnCounts }: PassMatrix): CollapsedMatrix {
  const rows = distinctRows(bits);
  const columns = distinctRows(transpose(pick(bits, rows.firsts)));
  const byTest = pick(transpose(pick(bits, rows.firsts)), columns.firsts);
  const collapsed = {
    byTest,
    rowCounts: sumByKind(rowCounts, rows.kindOf, rows.firsts.length),
    columnCounts: sumByKind(columnCounts, columns.kindOf, columns.firsts.length),
    rowKind: rows.kindOf,
    columnKind: columns.kindOf,
  };
  return {
    ...collapsed,
    programs: sum(rowCounts),
    tests: sum(columnCounts),
    passes: Float64Array.from({ length: byTest.rows }, (_, test) => {
      let passes = 0;
      for (let row = 0; row < byTest.columns; row++)
        if (passesTest(byTest, test, row)) passes += collapsed.rowCounts[row] ?? 0;
      return passes;
    }),
  };
}

/** Whether a program of kind `row` passes tests of kind `test`. */
export function passesTest(byTest: BitMatrix, test: number, row: number): boolean {
  return (((byTest.words[test * byTest.rowWords + (row >>> 5)] ?? 0) >>> (row & 31)) & 1) === 1;
}

/** All or none of the programs pass: such a test says nothing about them. */
export function isDegenerate({ passes, programs }: CollapsedMatrix, test: number): boolean {
  const count = passes[test] ?? 0;
  return count === 0 || count === programs;
}

/** Weighted sum of the tests that each kind of program passes; `weights` are of one test of each kind. */
export function weightedScores({ byTest, columnCounts }: CollapsedMatrix, weights: ArrayLike<number>): Float64Array {
  const scores = new Float64Array(byTest.columns);
  for (let test = 0; test < byTest.rows; test++) {
    const weight = (weights[test] ?? 0) * (columnCounts[test] ?? 0);
    if (weight === 0) continue;
    for (let row = 0; row < byTest.columns; row++)
      if (passesTest(byTest, test, row)) scores[row] = (scores[row] ?? 0) + weight;
  }
  return scores;
}

/** A value of each kind, given to every member of it. */
export function spread(values: ArrayLike<number>, kindOf: Int32Array): Float64Array {
  return Float64Array.from(kindOf, (kind) => values[kind] ?? 0);
}

function pick(matrix: BitMatrix, rows: Int32Array): BitMatrix {
  if (rows.length === matrix.rows) return matrix;
  const picked = bitMatrix({ rows: rows.length, columns: matrix.columns });
  rows.forEach((row, to) => {
    picked.words.set(matrix.words.subarray(row * matrix.rowWords, (row + 1) * matrix.rowWords), to * matrix.rowWords);
  });
  return picked;
}

function sumByKind(counts: Float64Array, kindOf: Int32Array, kinds: number): Float64Array {
  const sums = new Float64Array(kinds);
  counts.forEach((count, at) => {
    const kind = kindOf[at] ?? 0;
    sums[kind] = (sums[kind] ?? 0) + count;
  });
  return sums;
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
