/** Whether the same programs get the same verdicts: several runs of `evaluate`, and one on a machine that is eight times overloaded. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type ResultLine, resultLine } from '../src/evaluation/result-line.ts';
import { resolveDataDir } from '../src/problems/data-dir.ts';
import { locateDataset } from '../src/problems/dataset.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import { Project } from '../test/support/cli.ts';
import { dataDir } from '../test/support/data.ts';
import type { BenchOptions } from './figure.ts';
import { benchFolder, run } from './reference/python.ts';

const BENCHMARKS = ['humaneval', 'humaneval+', 'mbpp+'] as const;
/** Busy processes a core, beside those that grade. */
const LOAD = 8;
/** Mutants of each canonical solution, nearly all of them wrong. */
const MUTANTS = 1;

export async function determinism({ rounds, scale, wanted, report, note }: BenchOptions): Promise<void> {
  const folder = await mkdtemp(join(benchFolder(), 'determinism-'));
  const data = resolveDataDir({ flag: dataDir, env: process.env });
  const project = new Project({ env: data === undefined ? {} : { QUALITYFLOW_DATA_DIR: data } });
  try {
    for (const benchmark of BENCHMARKS.filter((name) => wanted(name))) {
      const samples = await samplesOf({ benchmark, data, folder, scale });
      const runs: ResultLine[][] = [];
      const grade = async (what: string): Promise<number> => {
        const begin = performance.now();
        runs.push(await evaluate({ project, benchmark, samples, out: join(folder, `${benchmark}-${runs.length}`) }));
        const seconds = (performance.now() - begin) / 1000;
        note(`${benchmark}, ${what}: ${seconds.toFixed(1)} s`);
        return seconds;
      };
      for (let round = 1; round <= rounds; round += 1) await grade(`run ${round}`);
      const seconds = await underLoad(() => grade(`run with ${LOAD} busy processes a core`));
      const alone = { reference: null, ratio: null };
      report({ figure: `${benchmark}: seconds under ${LOAD}× load`, value: seconds, unit: 's', ...alone });
      const [first = [], ...others] = runs;
      const differing = first.flatMap((line, index) => {
        const seen = [line, ...others.map((of) => of[index])];
        return new Set(seen.map(verdictOf)).size === 1 ? [] : [seen];
      });
      for (const seen of differing)
        note(`${seen[0]?.task_id}, sample ${seen[0]?.sample}: ${seen.map(verdictOf).join(' | ')}`);
      report({
        figure: `${benchmark}: verdicts that differ, of ${first.length} in ${runs.length} runs`,
        value: differing.length,
        unit: 'samples',
        ...alone,
        mark: { of: 'value', atMost: 0 },
      });
      const near = first.filter((_, index) => runs.some((lines) => lines[index]?.nearLimit === true));
      for (const { task_id, sample, verdict } of near)
        note(`near a limit of time: ${task_id}, sample ${sample}: ${verdict}`);
      report({ figure: `${benchmark}: samples near a limit of time`, value: near.length, unit: 'samples', ...alone });
    }
  } finally {
    await project.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function verdictOf(line: ResultLine | undefined): string {
  if (line === undefined) return 'none';
  const { verdict, base, plus } = line;
  return base === null ? verdict : `${base}, ${plus}`;
}

/** Canonical solutions and mutants, of a share of the tasks. */
async function samplesOf(job: { benchmark: string; data: string | undefined; folder: string; scale: number }) {
  const { benchmark, data, folder, scale } = job;
  const dataset = await locateDataset({ benchmark, dataDir: data, home: projectHome(process.env) });
  const lines: string[] = [];
  for (const mutants of [0, MUTANTS]) {
    const part = join(folder, `${benchmark}-${mutants}.jsonl`);
    await run('python3', [join(import.meta.dirname, 'reference/samples.py'), dataset, part, String(mutants), '1']);
    const all = readFileSync(part, 'utf8').trimEnd().split('\n');
    lines.push(...all.slice(0, Math.max(1, Math.round(all.length * scale))));
  }
  const path = join(folder, `${benchmark}.jsonl`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

async function evaluate(job: { project: Project; benchmark: string; samples: string; out: string }) {
  const { project, benchmark, samples, out } = job;
  const { code, stderr } = await project.run('evaluate', samples, '--benchmark', benchmark, '--out', out, '--json');
  // 3: some are `infra`, which is a verdict to compare here.
  if (code !== 0 && code !== 3) throw new Error(`evaluate ended with ${code}: ${stderr}`);
  const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
  return lines.map((line) => resultLine.parse(JSON.parse(line)));
}

/** Ends with its input, and so with this process, however that ends. */
const BUSY = `
process.stdin.on('end', () => process.exit()).resume();
(function burn() { for (const end = Date.now() + 50; Date.now() < end; ); setImmediate(burn); })()`;

async function underLoad<T>(work: () => Promise<T>): Promise<T> {
  const busy: ChildProcess[] = Array.from({ length: LOAD * availableParallelism() }, () =>
    spawn(process.execPath, ['--eval', BUSY], { stdio: ['pipe', 'ignore', 'ignore'] }),
  );
  try {
    return await work();
  } finally {
    await Promise.all(
      busy.map((child) => {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        return gone;
      }),
    );
  }
}
