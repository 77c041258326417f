import { TIE } from './loo-auc.ts';

/** Programs in order, and which of them a method cannot tell apart. */
export interface Ranking {
  /** Best first; equal scores in the order of the pool. */
  order: number[];
  /** The same, in groups of equal score. */
  groups: number[][];
}

/**
 * Scores are equal when they differ by at most 1e-12 of their size (or of 1): sums of the same weights in another order differ by rounding.
 * `shuffled`: an order of all programs to take the place of the pool's own within equal scores.
 */
export function rankByScore(scores: ArrayLike<number>, shuffled?: readonly number[]): Ranking {
  const score = (program: number) => scores[program] ?? 0;
  const start = shuffled ?? Array.from({ length: scores.length }, (_, program) => program);
  const sorted = [...start].sort((a, b) => score(b) - score(a));
  const groups: number[][] = [];
  let last = Number.NaN;
  for (const program of sorted) {
    const current = score(program);
    const group = groups.at(-1);
    if (group !== undefined && last - current <= TIE * Math.max(1, Math.abs(current))) group.push(program);
    else groups.push([program]);
    last = current;
  }
  const place = new Int32Array(scores.length);
  start.forEach((program, at) => {
    place[program] = at;
  });
  for (const group of groups) group.sort((a, b) => (place[a] ?? 0) - (place[b] ?? 0));
  return { order: groups.flat(), groups };
}
