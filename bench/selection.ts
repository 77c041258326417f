/** What ranking a pool costs, beside vectorised numpy that lays equal rows and columns together as ours does. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import { packRows } from '../src/selection/bit-matrix.ts';
import { type MethodName, select } from '../src/selection/methods.ts';
import { collapse, passMatrix } from '../src/selection/pass-matrix.ts';
import { seededRandom } from '../src/selection/seeded.ts';
import { type BenchOptions, type Figure, median } from './figure.ts';
import { pythonWith } from './reference/python.ts';

/** Pinned: the reference is what a person would write with it. */
const NUMPY = 'numpy==1.26.4';
const SCRIPT = join(import.meta.dirname, 'reference', 'selection_reference.py');
const seconds = z.object({ acesC: z.number(), acesO: z.number() });

/**
 * Times in ms from a packed matrix to the ranking, collapsing included; numpy's from its array on. Medians of `rounds` measurements, ours and
 * numpy's in turn.
 */
export async function selection({ rounds, wanted, report, note }: BenchOptions): Promise<void> {
  const python = join(await pythonWith([NUMPY], note), 'python3');

  const pools: { name: string; matrix: number[][]; limits: { c: number; o: number; ratio: number } }[] = [
    {
      name: '200 × 500, 60 distinct',
      matrix: poolLike({ rows: 200, columns: 500, kinds: 60, seed: 1 }),
      limits: { c: 5, o: 150, ratio: 0.2 },
    },
    {
      name: '200 × 500, all distinct',
      matrix: poolLike({ rows: 200, columns: 500, kinds: 500, seed: 2 }),
      limits: { c: 50, o: 1500, ratio: 0.5 },
    },
  ];
  for (const { name, matrix, limits } of pools) {
    if (!wanted(`aces-c ${name}`) && !wanted(`aces-o ${name}`)) continue;
    const none = (): { c: number[]; o: number[] } => ({ c: [], o: [] });
    const [ours, theirs] = [none(), none()];
    const bits = packRows(matrix);
    // Compiled first: a worker ranks thousands of pools.
    for (let warm = 0; warm < 3; warm++) time('aces-c', bits);
    time('aces-o', bits);
    for (let round = 0; round < rounds; round++) {
      ours.c.push(time('aces-c', bits));
      ours.o.push(time('aces-o', bits));
      const taken = numpySeconds(python, matrix);
      theirs.c.push(1000 * taken.acesC);
      theirs.o.push(1000 * taken.acesO);
    }
    const figure = (method: 'c' | 'o', mark: Figure['mark'], more = '') => {
      const value = median(ours[method]);
      const reference = median(theirs[method]);
      const ratio = value / reference;
      report({ figure: `aces-${method} ${name}${more}`, value, unit: 'ms', reference, ratio, mark });
    };
    figure('c', { of: 'value', atMost: limits.c });
    figure('o', { of: 'value', atMost: limits.o });
    figure('o', { of: 'ratio', atMost: limits.ratio }, ', beside numpy');
  }

  const large = '1,000 × 5,000, 200 and 1,000 distinct';
  if (!wanted(`aces-o ${large}`)) return;
  const bits = packRows(poolLike({ rows: 1000, columns: 5000, kinds: 200, columnKinds: 1000, seed: 3 }));
  const before = process.resourceUsage().maxRSS;
  report({ figure: `aces-o ${large}`, value: time('aces-o', bits), unit: 'ms', reference: null, ratio: null });
  report({
    figure: `aces-o ${large}: growth of the peak memory`,
    value: (process.resourceUsage().maxRSS - before) / 1024,
    unit: 'MiB',
    reference: null,
    ratio: null,
    mark: { of: 'value', atMost: 64 },
  });
  const distinct = packRows(poolLike({ rows: 1000, columns: 5000, kinds: 5000, seed: 4 }));
  report({
    figure: 'aces-c 1,000 × 5,000, all distinct',
    value: time('aces-c', distinct),
    unit: 'ms',
    reference: null,
    ratio: null,
  });
}

function time(method: MethodName, bits: ReturnType<typeof packRows>): number {
  const begin = performance.now();
  select(method, { collapsed: collapse(passMatrix(bits)), seed: 0 });
  return performance.now() - begin;
}

function numpySeconds(python: string, matrix: number[][]): z.infer<typeof seconds> {
  const run = spawnSync(python, [SCRIPT, 'time'], { input: JSON.stringify({ matrix }), encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`the numpy reference failed: ${run.stderr}`);
  return seconds.parse(JSON.parse(run.stdout));
}

/** `kinds` kinds of programs and `columnKinds` of tests; right programs pass most tests, wrong ones fewer. */
function poolLike(input: { rows: number; columns: number; kinds: number; columnKinds?: number; seed: number }) {
  const { rows, columns, kinds, columnKinds = kinds, seed } = input;
  const random = seededRandom(seed);
  const [rowKinds, testKinds] = [Math.min(kinds, rows), Math.min(columnKinds, columns)];
  const base = Array.from({ length: rowKinds }, () => {
    const pass = random() < 0.4 ? 0.75 : 0.35;
    return Array.from({ length: testKinds }, (): number => (random() < pass ? 1 : 0));
  });
  const pick = (count: number, of: number) =>
    Array.from({ length: count }, (_, at) => (at < of ? at : Math.floor(random() * of)));
  const [ofRow, ofColumn] = [pick(rows, rowKinds), pick(columns, testKinds)];
  return ofRow.map((row) => ofColumn.map((column) => base[row]?.[column] ?? 0));
}
