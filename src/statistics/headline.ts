import { type Interval, wilsonInterval } from './intervals.ts';
import { meanPassAtK, passAtK, type TaskSamples } from './pass-at-k.ts';

/** One task of a sweep: `n` planned samples, of which `c` passed and `open` have no final outcome (yet). */
export interface TaskProgress extends TaskSamples {
  open: number;
}

export interface Headline {
  /** Mean over the tasks with at least `k` final samples; null when there are none. */
  value: number | null;
  /** Bounds of what the finished sweep can still say: everything not final fails, everything not final passes. */
  low: number;
  high: number;
  /**
   * 95 % sampling interval of `value`: how far another draw of tasks could lie. Wilson's with the task as the unit, since samples of one task are
   * not independent of each other; exact in kind for one sample a task, conservative for more.
   */
  interval95: Interval | null;
}

/** Pass@k of a sweep with its two kinds of uncertainty (architecture §7); null when a task plans fewer than `k` samples or there is none. */
export function headline(tasks: readonly TaskProgress[], k: number): Headline | null {
  const low = meanPassAtK(tasks, k);
  const high = meanPassAtK(
    tasks.map(({ n, c, open }) => ({ n, c: c + open })),
    k,
  );
  if (low === null || high === null) return null;
  let sum = 0;
  let counted = 0;
  for (const { n, c, open } of tasks) {
    const value = passAtK({ n: n - open, c, k });
    if (value === null) continue;
    sum += value;
    counted++;
  }
  if (counted === 0) return { value: null, low, high, interval95: null };
  // With k > 1 the finished tasks alone may lie outside of what the whole can become; the whole is what is reported.
  const value = Math.min(high, Math.max(low, sum / counted));
  return {
    value,
    low,
    high,
    interval95: wilsonInterval({ successes: Math.min(counted, value * counted), trials: counted }),
  };
}
