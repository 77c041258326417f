/** 97.5 % point of the standard normal distribution: two-sided 95 %. */
const Z95 = 1.959963984540054;

export interface Interval {
  low: number;
  high: number;
}

/**
 * Wilson's score interval, 95 %, for a proportion observed over `trials`. Null without trials. `successes` may be fractional: for the mean of any
 * scores in [0, 1], a mean p has a variance of at most p(1 − p) / trials, so the interval is then on the wide side.
 */
export function wilsonInterval({ successes, trials }: { successes: number; trials: number }): Interval | null {
  if (!(successes >= 0 && successes <= trials)) {
    throw new RangeError(`successes must lie between 0 and ${trials}, not at ${successes}`);
  }
  if (trials === 0) return null;
  const p = successes / trials;
  const z2 = Z95 * Z95;
  const scale = 1 + z2 / trials;
  const centre = (p + z2 / (2 * trials)) / scale;
  const half = (Z95 / scale) * Math.sqrt((p * (1 - p)) / trials + z2 / (4 * trials * trials));
  // At p = 0 and 1 the formula meets the bound exactly; rounding must not push it past.
  return { low: Math.min(p, Math.max(0, centre - half)), high: Math.max(p, Math.min(1, centre + half)) };
}
