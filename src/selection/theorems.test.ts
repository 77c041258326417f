import assert from 'node:assert/strict';
import test from 'node:test';
import { packRows } from './bit-matrix.ts';
import { looAuc } from './loo-auc.ts';
import { rankedPassAt } from './pass-at.ts';
import { collapse, passMatrix } from './pass-matrix.ts';
import { rankByScore } from './ranking.ts';
import { seededRandom } from './seeded.ts';

/** Programs of two classes, each passing test j with its class's own chance, independently of everything else. */
function simulate(input: { right: number; wrong: number; alpha: number[]; beta: number[]; random: () => number }) {
  const { right, wrong, alpha, beta, random } = input;
  const correct = [...Array<boolean>(right).fill(true), ...Array<boolean>(wrong).fill(false)];
  const matrix = correct.map((ok) => (ok ? alpha : beta).map((chance): number => (random() < chance ? 1 : 0)));
  return { correct, matrix };
}

/** Chance that a right program outscores a wrong one, ties ½, by all tests but one. */
function rankingAuc(matrix: number[][], correct: boolean[], without: number): number {
  const scores = matrix.map((row) => row.reduce((sum, cell, test) => sum + (test === without ? 0 : cell), 0));
  let [won, pairs] = [0, 0];
  scores.forEach((a, i) => {
    if (!correct[i]) return;
    scores.forEach((b, j) => {
      if (correct[j]) return;
      pairs++;
      won += a > b ? 1 : a === b ? 0.5 : 0;
    });
  });
  return won / pairs;
}

test('Theorem 3: LOO-AUC − ½ is δ times π(1 − π)(A − ½) / p(1 − p)', () => {
  const random = seededRandom(11);
  for (const share of [0.2, 0.5, 0.8]) {
    const tests = 8;
    const alpha = Array.from({ length: tests }, () => 0.2 + 0.7 * random());
    const beta = Array.from({ length: tests }, () => 0.1 + 0.7 * random());
    const right = Math.round(share * 400);
    const gaps = alpha.map((): number[] => []);
    for (let round = 0; round < 40; round++) {
      const { correct, matrix } = simulate({ right, wrong: 400 - right, alpha, beta, random });
      const collapsed = collapse(passMatrix(packRows(matrix)));
      const observed = looAuc(collapsed, new Float64Array(collapsed.byTest.rows).fill(1));
      gaps.forEach((gap, j) => {
        const rate = (ok: boolean) => {
          const side = matrix.filter((_, program) => correct[program] === ok);
          return side.reduce((sum, row) => sum + (row[j] ?? 0), 0) / side.length;
        };
        const [a, b] = [rate(true), rate(false)];
        const p = share * a + (1 - share) * b;
        const predicted = ((share * (1 - share) * (rankingAuc(matrix, correct, j) - 0.5)) / (p * (1 - p))) * (a - b);
        gap.push((observed[collapsed.columnKind[j] ?? 0] ?? Number.NaN) - 0.5 - predicted);
      });
    }
    gaps.forEach((gap, j) => {
      const mean = gap.reduce((sum, value) => sum + value, 0) / gap.length;
      const deviation = Math.sqrt(gap.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (gap.length - 1));
      assert.ok(Math.abs(mean) < (4 * deviation) / Math.sqrt(gap.length), `share ${share}, test ${j}: off by ${mean}`);
      assert.ok(deviation < 0.05, `share ${share}, test ${j}: the noise of ${deviation} would hide anything`);
    });
  }
});

test('Theorem 2: pass@k is at least 1 − (n⁻ / k) exp(−(Σ wδ)² / 2Σw²)', () => {
  const random = seededRandom(12);
  let meaningful = 0;
  for (let setting = 0; setting < 40; setting++) {
    const tests = 10 + Math.floor(random() * 70);
    const alpha = Array.from({ length: tests }, () => 0.5 + 0.5 * random());
    const beta = alpha.map((value) => value * random());
    const raw = alpha.map(() => 0.2 + random());
    const total = raw.reduce((sum, value) => sum + value, 0);
    const weights = raw.map((value) => value / total);
    const [right, wrong, k] = [
      1 + Math.floor(random() * 4),
      5 + Math.floor(random() * 30),
      1 + Math.floor(random() * 3),
    ];
    const signal = weights.reduce((sum, weight, j) => sum + weight * ((alpha[j] ?? 0) - (beta[j] ?? 0)), 0);
    const bound =
      1 - (wrong / k) * Math.exp(-(signal ** 2) / weights.reduce((sum, weight) => sum + weight ** 2, 0) / 2);
    if (bound <= 0) continue;
    meaningful++;
    const rounds = 60;
    let passed = 0;
    for (let round = 0; round < rounds; round++) {
      const { correct, matrix } = simulate({ right, wrong, alpha, beta, random });
      const { groups } = rankByScore(
        matrix.map((row) => row.reduce((sum, cell, j) => sum + cell * (weights[j] ?? 0), 0)),
      );
      passed += rankedPassAt({ groups, rankedGroups: groups, correct, k }).tieAware ?? 0;
    }
    const noise = 3 * Math.sqrt((bound * (1 - bound)) / rounds);
    assert.ok(passed / rounds >= bound - noise, `setting ${setting}: ${passed / rounds} is below ${bound}`);
  }
  assert.ok(meaningful >= 10, `only ${meaningful} settings have a bound above 0`);
});
