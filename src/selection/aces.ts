import { acesC, type TestWeights } from './aces-c.ts';
import { acesO } from './aces-o.ts';
import type { Judgement, Method, Pool } from './method.ts';
import { spread, weightedScores } from './pass-matrix.ts';

const weighing = (weigh: (collapsed: Pool['collapsed']) => TestWeights): Method => ({
  judge({ collapsed }): Judgement {
    const { weights, looAuc } = weigh(collapsed);
    return {
      scores: spread(weightedScores(collapsed, weights), collapsed.rowKind),
      tests: { weights: spread(weights, collapsed.columnKind), looAuc: spread(looAuc, collapsed.columnKind) },
    };
  },
});

/** ACES (arXiv 2604.03922): programs by the weighted sum of the tests they pass, weights from the pass matrix alone. */
export const acesCMethod = weighing(acesC);
export const acesOMethod = weighing(acesO);
