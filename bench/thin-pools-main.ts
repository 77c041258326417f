/**
 * `node bench/thin-pools-main.ts POOLS.jsonl OUT.jsonl [--share 0.2] [--seed 1]`: the graded pools that `select --keep` wrote, with fewer bad tests. Of those
 * that tell right from wrong the wrong way round or not at all (δ = α − β ≤ 0: no larger share of the right programs pass them than of the wrong ones) this
 * share is left, drawn at random. Labels choose the pool here, never a ranking. Tasks without a right or without a wrong program are left out, and so
 * are those that keep no test.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { seededRandom } from '../src/selection/seeded.ts';

const poolShape = z.looseObject({
  matrix: z.array(z.array(z.number())),
  correct: z.array(z.number()),
  testWeights: z.array(z.number()),
  tests: z.array(z.string()),
});
type Pool = z.infer<typeof poolShape>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { share: { type: 'string', default: '0.2' }, seed: { type: 'string', default: '1' } },
});
const [from = '', to = ''] = positionals;
const share = Number(values.share);
const random = seededRandom(Number(values.seed));

const out = createWriteStream(to);
const count = { pools: 0, left: 0, tests: 0, kept: 0, informative: 0 };
for await (const line of createInterface({ input: createReadStream(from) })) {
  const pool = poolShape.parse(JSON.parse(line));
  count.pools += 1;
  const deltas = deltasOf(pool);
  const kept = deltas.flatMap((delta, test) => (delta > 0 || random() < share ? [test] : []));
  if (deltas.length === 0 || kept.length === 0) continue;
  count.left += 1;
  count.tests += deltas.length;
  count.kept += kept.length;
  count.informative += kept.filter((test) => (deltas[test] ?? 0) > 0).length;
  out.write(`${JSON.stringify(thinned(pool, kept))}\n`);
}
out.end();
await finished(out);
console.log(JSON.stringify(count));

/** α − β by test; none where no program is right, or none wrong. */
function deltasOf({ matrix, correct }: Pool): number[] {
  const passing = (of: number, test: number) => {
    const rows = matrix.filter((_, program) => correct[program] === of);
    return rows.filter((row) => row[test] === 1).length / rows.length;
  };
  if (new Set(correct).size < 2) return [];
  return (matrix[0] ?? []).map((_, test) => passing(1, test) - passing(0, test));
}

function thinned(pool: Pool, kept: number[]): object {
  const pick = <T>(of: readonly T[]) => of.filter((_, test) => kept.includes(test));
  return {
    ...pool,
    matrix: pool.matrix.map(pick),
    testWeights: pick(pool.testWeights),
    tests: pick(pool.tests),
    rankings: undefined,
  };
}
