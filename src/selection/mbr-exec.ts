import type { Method } from './method.ts';
import { spread } from './pass-matrix.ts';

/**
 * MBR-exec (arXiv 2204.11454): how many programs give the same output on the first test's input; 0 for a program that gives none. Without
 * outputs the usual stand-in: how many programs pass exactly the same tests. Its tie-break, the model's own probability, is not at hand.
 */
export const mbrExec: Method = {
  judge({ collapsed, outputs }) {
    const first = outputs?.values.map((values) => values[0]);
    if (first === undefined || first.every((value) => value === undefined))
      return { scores: spread(collapsed.rowCounts, collapsed.rowKind) };
    const sizes = new Map<number, number>();
    for (const value of first) if (value !== undefined) sizes.set(value, (sizes.get(value) ?? 0) + 1);
    return {
      scores: Float64Array.from(first, (value) => (value === undefined || value < 0 ? 0 : (sizes.get(value) ?? 0))),
    };
  },
};
