import { type BitMatrix, bitAt } from './bit-matrix.ts';

/** How well tests tell right from wrong programs; known only once the programs have been graded. */
export interface TestPower {
  /** Pass rate among right and among wrong programs, and their difference, by test. */
  alpha: Float64Array;
  beta: Float64Array;
  delta: Float64Array;
  meanDelta: number;
}

/** Null when the programs are all right or all wrong, or there is no test: then nothing separates them. `counts`: multiplicities of programs. */
export function testPower({
  bits,
  correct,
  counts,
}: {
  bits: BitMatrix;
  correct: ArrayLike<boolean | number>;
  counts?: ArrayLike<number> | undefined;
}): TestPower | null {
  let [right, wrong] = [0, 0];
  const alpha = new Float64Array(bits.columns);
  const beta = new Float64Array(bits.columns);
  for (let program = 0; program < bits.rows; program++) {
    const times = counts?.[program] ?? 1;
    const side = correct[program] ? alpha : beta;
    if (side === alpha) right += times;
    else wrong += times;
    for (let test = 0; test < bits.columns; test++)
      if (bitAt(bits, program, test) === 1) side[test] = (side[test] ?? 0) + times;
  }
  if (right === 0 || wrong === 0 || bits.columns === 0) return null;
  for (let test = 0; test < bits.columns; test++) {
    alpha[test] = (alpha[test] ?? 0) / right;
    beta[test] = (beta[test] ?? 0) / wrong;
  }
  const delta = alpha.map((value, test) => value - (beta[test] ?? 0));
  return { alpha, beta, delta, meanDelta: delta.reduce((sum, value) => sum + value, 0) / delta.length };
}

export interface WeightQuality {
  /** Share of the informative tests (δ > 0) that have weight; null without any. */
  informativeRecall: number | null;
  /** Weight on misleading tests (δ < 0). */
  misleadingWeight: number;
}

/** `weights` by test, summing to 1. A weight of less than a thousandth of the mean is none: softmax never reaches 0. */
export function weightQuality({ delta }: TestPower, weights: ArrayLike<number>): WeightQuality {
  const least = 1e-3 / delta.length;
  let [informative, found, misleadingWeight] = [0, 0, 0];
  delta.forEach((value, test) => {
    const weight = weights[test] ?? 0;
    if (value > 0) {
      informative++;
      if (weight > least) found++;
    }
    if (value < 0) misleadingWeight += weight;
  });
  return { informativeRecall: informative === 0 ? null : found / informative, misleadingWeight };
}

/**
 * Five groups of tasks, from the worst tests to the best by mean δ, with the mean of `value` in each. Sizes differ by one at most; with
 * fewer than five tasks some are empty (null).
 */
export function byQuintile<T extends { meanDelta: number }>(
  tasks: readonly T[],
  value: (task: T) => number | null,
): { tasks: number; meanDelta: number | null; value: number | null }[] {
  const sorted = [...tasks].sort((a, b) => a.meanDelta - b.meanDelta);
  return [0, 1, 2, 3, 4].map((fifth) => {
    const part = sorted.slice(Math.round((fifth * sorted.length) / 5), Math.round(((fifth + 1) * sorted.length) / 5));
    const values = part.map(value).filter((found) => found !== null);
    return { tasks: part.length, meanDelta: mean(part.map((task) => task.meanDelta)), value: mean(values) };
  });
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
