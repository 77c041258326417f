/** `n` independent samples of one task, of which `c` pass. */
export interface TaskSamples {
  n: number;
  c: number;
}

/**
 * Unbiased estimate of the chance that at least one of `k` samples passes: 1 − C(n−c, k) / C(n, k) (Chen et al. 2021, "Evaluating Large
 * Language Models Trained on Code", eq. 1), as a product, so that no binomial overflows. Null when fewer than `k` samples
 * exist, or `k` is 0: there is nothing to estimate from, whatever passed. Throws `RangeError` unless 0 ≤ c ≤ n and all are whole.
 */
export function passAtK({ n, c, k }: TaskSamples & { k: number }): number | null {
  if (![n, c, k].every(Number.isInteger) || c < 0 || k < 0 || n < c) {
    throw new RangeError(`pass@k needs whole numbers 0 <= c <= n and k >= 0, not n=${n} c=${c} k=${k}`);
  }
  if (k === 0 || n < k) return null;
  let allFail = 1;
  for (let i = 0; i < k; i++) allFail *= Math.max(0, n - c - i) / (n - i);
  return 1 - allFail;
}

/** Mean of pass@k over tasks; null without tasks, or when a task has fewer than `k` samples (leaving it out would bias the mean). */
export function meanPassAtK(tasks: readonly TaskSamples[], k: number): number | null {
  let sum = 0;
  for (const task of tasks) {
    const value = passAtK({ ...task, k });
    if (value === null) return null;
    sum += value;
  }
  return tasks.length === 0 ? null : sum / tasks.length;
}
