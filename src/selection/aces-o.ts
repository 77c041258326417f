import { acesC, type TestWeights } from './aces-c.ts';
import { looAuc } from './loo-auc.ts';
import { type CollapsedMatrix, isDegenerate } from './pass-matrix.ts';
import { surrogate } from './surrogate.ts';

/** The paper names no optimiser. Given the start from ACES-C, none of these matters much on public data; from uniform weights nothing moves. */
const ADAM = { steps: 50, rate: 0.05, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
/** Share of the weight that is spread over all tests at the start: what ACES-C put to 0 can come back. */
const START_SHARE = 1e-3;
/** Adam magnifies rounding: without this floor, two tests that mirror each other are told apart by the order of additions. */
const NO_SLOPE = 1e-13;

/**
 * ACES-O: gradient ascent on `surrogate` over w = softmax(θ), started from ACES-C. Tests that all or none pass have weight 0 and no θ.
 * LOO-AUC is the exact one, under the final weights. With no test left the weights are those of ACES-C.
 */
export function acesO(collapsed: CollapsedMatrix): TestWeights {
  const { byTest, columnCounts } = collapsed;
  const start = acesC(collapsed);
  const active: number[] = [];
  for (let test = 0; test < byTest.rows; test++) if (!isDegenerate(collapsed, test)) active.push(test);
  const tests = active.reduce((sum, test) => sum + (columnCounts[test] ?? 0), 0);
  if (tests === 0) return start;

  const theta = Float64Array.from(active, (test) => Math.log((start.weights[test] ?? 0) + START_SHARE / tests));
  const [first, second] = [new Float64Array(active.length), new Float64Array(active.length)];
  const weights = new Float64Array(byTest.rows);
  for (let step = 1; step <= ADAM.steps; step++) {
    softmax();
    const { gradient } = surrogate(collapsed, weights);
    const mean = active.reduce(
      (sum, test) => sum + (columnCounts[test] ?? 0) * (weights[test] ?? 0) * (gradient[test] ?? 0),
      0,
    );
    active.forEach((test, at) => {
      const exact = (weights[test] ?? 0) * ((gradient[test] ?? 0) - mean);
      const slope = Math.abs(exact) < NO_SLOPE ? 0 : exact;
      const m = ADAM.beta1 * (first[at] ?? 0) + (1 - ADAM.beta1) * slope;
      const v = ADAM.beta2 * (second[at] ?? 0) + (1 - ADAM.beta2) * slope * slope;
      first[at] = m;
      second[at] = v;
      const ascent = m / (1 - ADAM.beta1 ** step) / (Math.sqrt(v / (1 - ADAM.beta2 ** step)) + ADAM.epsilon);
      theta[at] = (theta[at] ?? 0) + ADAM.rate * ascent;
    });
  }
  softmax();
  return { weights, looAuc: looAuc(collapsed, weights) };

  function softmax(): void {
    const top = theta.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    let total = 0;
    active.forEach((test, at) => {
      const power = Math.exp((theta[at] ?? 0) - top);
      weights[test] = power;
      total += power * (columnCounts[test] ?? 0);
    });
    for (const test of active) weights[test] = (weights[test] ?? 0) / total;
  }
}
