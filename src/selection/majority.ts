import { looAuc } from './loo-auc.ts';
import type { Method } from './method.ts';
import { spread, weightedScores } from './pass-matrix.ts';

/** Majority voting: the number of tests passed. */
export const majority: Method = {
  judge({ collapsed }) {
    const { byTest, columnKind, tests } = collapsed;
    const ones = new Float64Array(byTest.rows).fill(1);
    return {
      scores: spread(weightedScores(collapsed, ones), collapsed.rowKind),
      tests: {
        weights: new Float64Array(columnKind.length).fill(1 / tests),
        looAuc: spread(looAuc(collapsed, ones), columnKind),
      },
    };
  },
};
