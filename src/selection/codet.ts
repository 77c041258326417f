import type { Method } from './method.ts';
import { spread, weightedScores } from './pass-matrix.ts';

/**
 * CodeT (arXiv 2207.10397, dual execution agreement): programs that pass exactly the same tests agree; their score is
 * √(how many they are) × (how many tests they pass), multiplicities counted in both. Who passes nothing has score 0 and is not ranked.
 */
export const codet: Method = {
  unrankedScore: 0,
  judge({ collapsed }) {
    const passed = weightedScores(collapsed, new Float64Array(collapsed.byTest.rows).fill(1));
    const scores = passed.map((tests, kind) => Math.sqrt(collapsed.rowCounts[kind] ?? 0) * tests);
    return { scores: spread(scores, collapsed.rowKind) };
  },
};
