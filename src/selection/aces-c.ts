import { looAuc } from './loo-auc.ts';
import { type CollapsedMatrix, isDegenerate } from './pass-matrix.ts';

/** Weight of one test of each kind (all tests of the pool sum to 1), and its LOO-AUC under the weights that it was made from. */
export interface TestWeights {
  weights: Float64Array;
  looAuc: Float64Array;
}

/**
 * ACES-C, the closed form: w_j ∝ max(0, LOO-AUC_j(uniform) − ½) · p_j(1 − p_j). The variance factor undoes the bias of Theorem 3
 * and is worth several points. When no test is better than chance the weights are uniform (our decision).
 */
export function acesC(collapsed: CollapsedMatrix): TestWeights {
  const { byTest, columnCounts, passes, programs, tests } = collapsed;
  // Weight 1 keeps the scores whole numbers, so that ties are exact.
  const auc = looAuc(collapsed, new Float64Array(byTest.rows).fill(1));
  const quality = Float64Array.from(auc, (value, test) => {
    const p = (passes[test] ?? 0) / programs;
    return isDegenerate(collapsed, test) ? 0 : Math.max(0, value - 0.5) * p * (1 - p);
  });
  const total = quality.reduce((sum, value, test) => sum + value * (columnCounts[test] ?? 0), 0);
  return { weights: quality.map((value) => (total > 0 ? value / total : 1 / tests)), looAuc: auc };
}
