import { logBeta } from './log-beta.ts';
import type { Method } from './method.ts';
import { passesTest, spread } from './pass-matrix.ts';

/** Prior that a wrong program passes a wrong test is Beta(1, β₀); the authors try 1e4, 1e5 and 1e6. */
const BETA_0 = 1e5;
/** Priors that a program, and that a test, is right are Beta(α, 1). */
const ALPHA_XY = 1e3;

/**
 * B4 (arXiv 2409.08692): log posterior that exactly the programs of one pass pattern are right and exactly the tests they pass are right.
 * Four Beta-binomial terms: right programs, right tests, wrong programs on right tests, wrong programs on wrong tests.
 */
export const b4: Method = {
  judge({ collapsed }) {
    const { byTest, rowCounts, columnCounts, passes, programs, tests } = collapsed;
    let allPasses = 0;
    for (let test = 0; test < byTest.rows; test++) allPasses += (passes[test] ?? 0) * (columnCounts[test] ?? 0);
    const scores = rowCounts.map((members, kind) => {
      let [right, passesOfRight] = [0, 0];
      for (let test = 0; test < byTest.rows; test++) {
        if (!passesTest(byTest, test, kind)) continue;
        right += columnCounts[test] ?? 0;
        passesOfRight += (passes[test] ?? 0) * (columnCounts[test] ?? 0);
      }
      const others = programs - members;
      return (
        posterior({ hits: right, of: tests, alpha: ALPHA_XY }) +
        posterior({ hits: members, of: programs, alpha: ALPHA_XY }) +
        posterior({ hits: passesOfRight - members * right, of: others * right }) +
        posterior({ hits: allPasses - passesOfRight, of: others * (tests - right), beta: BETA_0 })
      );
    });
    return { scores: spread(scores, collapsed.rowKind) };
  },
};

function posterior({ hits, of, alpha = 1, beta = 1 }: { hits: number; of: number; alpha?: number; beta?: number }) {
  return logBeta(hits + alpha, of - hits + beta);
}
