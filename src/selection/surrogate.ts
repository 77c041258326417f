import { type CollapsedMatrix, isDegenerate, passesTest, weightedScores } from './pass-matrix.ts';

/** Temperature of the logistic step: a lead of 0.05 of all weight counts as 73 % of a win. */
export const TAU = 0.05;

export interface Surrogate {
  /** J(w) = Σ_j w_j (L_j(w) − ½), L_j being LOO-AUC_j with σ((S_a − S_b) / τ) in place of the step. */
  objective: number;
  /** ∂J/∂w of *one* test of each kind, as if each weight could move alone; 0 for degenerate tests. */
  gradient: Float64Array;
}

/**
 * The differentiable objective of ACES-O, all in one pass over pairs of distinct programs. Memory: a few vectors of programs and tests.
 *
 * σ((S_a − S_b) / τ) is E_a / (E_a + E_b) with E = exp(S / τ): one division a pair in place of an exponential. Leaving test j out scales E
 * of all who pass it by exp(−w_j / τ). Weights sum to 1, so E stays below e^20.
 */
export function surrogate(collapsed: CollapsedMatrix, weights: Float64Array): Surrogate {
  const { byTest, rowCounts, columnCounts, passes, programs } = collapsed;
  const kinds = byTest.columns;
  const powers = weightedScores(collapsed, weights).map((score) => Math.exp(score / TAU));
  const gradient = new Float64Array(byTest.rows);
  /** Σ_j w_j ∂L_j/∂S_i over all tests j, for each kind of program i. */
  const pull = new Float64Array(kinds);
  const failing = new Int32Array(kinds);
  const [power, count, fall] = [new Float64Array(kinds), new Float64Array(kinds), new Float64Array(kinds)];
  let objective = 0;

  for (let test = 0; test < byTest.rows; test++) {
    if (isDegenerate(collapsed, test)) continue;
    const weight = weights[test] ?? 0;
    let fails = 0;
    for (let row = 0; row < kinds; row++) {
      if (passesTest(byTest, test, row)) continue;
      failing[fails] = row;
      power[fails] = powers[row] ?? 0;
      count[fails] = rowCounts[row] ?? 0;
      fall[fails++] = 0;
    }
    const own = Math.exp(-weight / TAU);
    const pairs = (passes[test] ?? 0) * (programs - (passes[test] ?? 0));
    const total = weight * (columnCounts[test] ?? 0);
    let [won, slope] = [0, 0];
    for (let row = 0; row < kinds; row++) {
      if (!passesTest(byTest, test, row)) continue;
      const mine = (powers[row] ?? 0) * own;
      const times = rowCounts[row] ?? 0;
      let [wins, rise] = [0, 0];
      for (let at = 0; at < fails; at++) {
        const sigma = mine / (mine + (power[at] ?? 0));
        const counted = sigma * (count[at] ?? 0);
        const steep = counted - counted * sigma;
        wins += counted;
        rise += steep;
        fall[at] = (fall[at] ?? 0) + times * steep;
      }
      won += times * wins;
      slope += times * rise;
      pull[row] = (pull[row] ?? 0) + (total * times * rise) / (TAU * pairs);
    }
    for (let at = 0; at < fails; at++) {
      const row = failing[at] ?? 0;
      pull[row] = (pull[row] ?? 0) - (total * (fall[at] ?? 0)) / (TAU * pairs);
    }
    const lead = won / pairs - 0.5;
    objective += total * lead;
    // A test has no part in its own L; below it is counted in `pull` as one of its kind.
    gradient[test] = lead - (weight * slope) / (TAU * pairs);
  }
  for (let test = 0; test < byTest.rows; test++) {
    if (isDegenerate(collapsed, test)) continue;
    let sum = gradient[test] ?? 0;
    for (let row = 0; row < kinds; row++) if (passesTest(byTest, test, row)) sum += pull[row] ?? 0;
    gradient[test] = sum;
  }
  return { objective, gradient };
}
