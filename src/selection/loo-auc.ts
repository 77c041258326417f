import { type CollapsedMatrix, isDegenerate, passesTest, weightedScores } from './pass-matrix.ts';

/** Scores closer than this are equal: the weights sum to 1 and their sums carry rounding of about 1e-16 each. */
export const TIE = 1e-12;

/**
 * LOO-AUC of each kind of test (ACES, arXiv 2604.03922): the chance that a program that passes the test outscores one that fails it, by the
 * weighted sum of all *other* tests; ties count ½. ½ for a test that all or none pass. `weights` are of one test of each kind; a test
 * leaves itself out once, so its equals still vote.
 */
export function looAuc(collapsed: CollapsedMatrix, weights: ArrayLike<number>): Float64Array {
  const { byTest, rowCounts, passes, programs } = collapsed;
  const kinds = byTest.columns;
  const scores = weightedScores(collapsed, weights);
  // Leaving a test out lowers all who pass it by the same amount, so one sorting serves every test: the passing and the failing stay in order.
  const order = Int32Array.from({ length: kinds }, (_, row) => row).sort((a, b) => (scores[a] ?? 0) - (scores[b] ?? 0));
  const sorted = Float64Array.from(order, (row) => scores[row] ?? 0);
  const counts = Float64Array.from(order, (row) => rowCounts[row] ?? 0);

  const [failing, failingCounts] = [new Float64Array(kinds), new Float64Array(kinds)];
  const [passing, passingCounts] = [new Float64Array(kinds), new Float64Array(kinds)];
  return Float64Array.from({ length: byTest.rows }, (_, test) => {
    if (isDegenerate(collapsed, test)) return 0.5;
    const own = weights[test] ?? 0;
    let [fails, passed] = [0, 0];
    for (let at = 0; at < kinds; at++) {
      if (passesTest(byTest, test, order[at] ?? 0)) {
        passing[passed] = (sorted[at] ?? 0) - own;
        passingCounts[passed++] = counts[at] ?? 0;
      } else {
        failing[fails] = sorted[at] ?? 0;
        failingCounts[fails++] = counts[at] ?? 0;
      }
    }
    // Two pointers into the failing programs: those clearly below the passing one, and those not clearly above it.
    let [below, belowAt, notAbove, notAboveAt, won] = [0, 0, 0, 0, 0];
    for (let at = 0; at < passed; at++) {
      const score = passing[at] ?? 0;
      while (belowAt < fails && score - (failing[belowAt] ?? 0) > TIE) below += failingCounts[belowAt++] ?? 0;
      while (notAboveAt < fails && (failing[notAboveAt] ?? 0) - score <= TIE)
        notAbove += failingCounts[notAboveAt++] ?? 0;
      won += (passingCounts[at] ?? 0) * (below + notAbove) * 0.5;
    }
    const count = passes[test] ?? 0;
    return won / (count * (programs - count));
  });
}
