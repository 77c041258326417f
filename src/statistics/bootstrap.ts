import type { Interval } from './intervals.ts';

const DRAWS = 1000;

/**
 * Percentile bootstrap, 95 %, of the mean of `values`, over 1,000 resamples drawn with `random`: how far another draw of tasks could lie.
 * Null without values.
 */
export function bootstrapInterval(values: readonly number[], random: () => number): Interval | null {
  if (values.length === 0) return null;
  const means = Float64Array.from({ length: DRAWS }, () => {
    let sum = 0;
    for (let draw = 0; draw < values.length; draw++) sum += values[Math.floor(random() * values.length)] ?? 0;
    return sum / values.length;
  }).sort();
  return { low: means[Math.floor(0.025 * DRAWS)] ?? 0, high: means[Math.ceil(0.975 * DRAWS) - 1] ?? 0 };
}
