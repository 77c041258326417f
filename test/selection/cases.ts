import { seededRandom } from '../../src/selection/seeded.ts';

export interface Case {
  matrix: number[][];
  /** A point of the simplex, where the gradient is compared. */
  point: number[];
  outputs?: (number | null)[][];
}

/** Pools of every kind that a seed can draw: sparse and dense, with equal rows, equal columns, tests that all or none pass, outputs or none. */
export function randomCases({ count, seed, most }: { count: number; seed: number; most: number }): Case[] {
  const random = seededRandom(seed);
  const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  return Array.from({ length: count }, (_, index): Case => {
    const [rows, columns] = [whole(2, most), whole(1, most)];
    const density = 0.1 + 0.8 * random();
    const fresh = () => Array.from({ length: columns }, () => (random() < density ? 1 : 0));
    const kinds = Array.from({ length: whole(1, rows) }, fresh);
    const matrix = Array.from({ length: rows }, () => [
      ...(random() < 0.6 ? (kinds[whole(0, kinds.length - 1)] ?? fresh()) : fresh()),
    ]);
    for (let column = 0; column < columns; column++) {
      const draw = random();
      for (const row of matrix) {
        if (draw < 0.1) row[column] = 1;
        else if (draw < 0.2) row[column] = 0;
        else if (draw < 0.35) row[column] = row[0] ?? 0;
      }
    }
    const raw = Array.from({ length: columns }, () => random() ** 3 + 1e-6);
    const total = raw.reduce((sum, value) => sum + value, 0);
    const drawn: Case = { matrix, point: raw.map((value) => value / total) };
    if (index % 3 === 0)
      drawn.outputs = matrix.map((row) =>
        random() < 0.1
          ? row.map(() => null)
          : row.map((cell) => (cell === 1 ? 0 : random() < 0.2 ? null : whole(1, 3))),
      );
    return drawn;
  });
}
