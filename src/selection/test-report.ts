import type { BitMatrix } from './bit-matrix.ts';
import { bitAt } from './bit-matrix.ts';
import type { Selection } from './methods.ts';
import type { PassMatrix } from './pass-matrix.ts';

export interface TestLine {
  /** Of the test in the pool. */
  test: number;
  weight: number;
  looAuc: number;
  passRate: number;
  /** The other tests, as weighed, rank the programs that pass it below those that fail it. */
  misleading: boolean;
  /** It carries weight, the first-ranked program passes it, and the best program that is not tied with it does not. */
  decided: boolean;
}

/** Tests by weight, heaviest first. Undefined for methods that weigh no tests. */
export function reportTests({
  bits,
  passRates,
  selection,
}: {
  bits: BitMatrix;
  passRates: ArrayLike<number>;
  selection: Selection;
}): TestLine[] | undefined {
  const { tests, groups } = selection;
  if (tests === undefined) return undefined;
  const [winner, rival] = [groups[0]?.[0], groups[1]?.[0]];
  const lines = Array.from(tests.weights, (weight, test): TestLine => {
    const looAuc = tests.looAuc[test] ?? 0.5;
    return {
      test,
      weight,
      looAuc,
      passRate: passRates[test] ?? 0,
      misleading: looAuc < 0.5,
      decided:
        weight > 0 &&
        winner !== undefined &&
        rival !== undefined &&
        bitAt(bits, winner, test) === 1 &&
        bitAt(bits, rival, test) === 0,
    };
  });
  return lines.sort((a, b) => b.weight - a.weight || a.test - b.test);
}

/** Share of the programs that pass each test, multiplicities counted. */
export function passRates({ bits, rowCounts }: PassMatrix): Float64Array {
  const programs = rowCounts.reduce((sum, count) => sum + count, 0);
  return Float64Array.from({ length: bits.columns }, (_, test) => {
    let passes = 0;
    for (let row = 0; row < bits.rows; row++) if (bitAt(bits, row, test) === 1) passes += rowCounts[row] ?? 0;
    return passes / programs;
  });
}
