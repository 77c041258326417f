import type { Method } from './method.ts';
import { seededRandom, shuffledIndexes } from './seeded.ts';

/** No opinion: all programs are tied, in an order drawn by the seed. */
export const random: Method = {
  judge({ collapsed, seed }) {
    const programs = collapsed.rowKind.length;
    return { scores: new Float64Array(programs), shuffled: shuffledIndexes(programs, seededRandom(seed)) };
  },
};
