/** `inspect_ai`, the reference: installed once, and run as its users run it. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locateDataset } from '../../src/problems/dataset.ts';
import { readDatasetText } from '../../src/problems/dataset-text.ts';
import { onInterrupt } from '../../test/support/on-interrupt.ts';
import { humanEvalSource } from '../human-eval.ts';
import type { Load } from '../product.ts';
import { benchFolder, pythonWith, run } from './python.ts';

const INSPECT = 'inspect-ai==0.3.285';
/** inspect_ai names no upper bound for the client of the endpoint. */
const CLIENT = 'openai==3.57.0';
const TASK = 'humaneval.py';

export interface InspectRun {
  /** Of the whole command. */
  seconds: number;
  /** When each sample ended, in ms since 1970, ascending. */
  ends: number[];
}

/** `inspect eval` of the load; every sample must pass. */
export async function runInspect(input: {
  load: Load;
  model: string;
  note: (line: string) => void;
}): Promise<InspectRun> {
  const { load, model, note } = input;
  const program = join(await pythonWith([INSPECT, CLIENT], note), 'inspect');
  const folder = mkdtempSync(join(benchFolder(), 'run-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const forget = onInterrupt(remove);
  try {
    const dataset = join(folder, 'humaneval.jsonl');
    writeFileSync(dataset, (await readDatasetText(await locateDataset(humanEvalSource()))).text);
    // It finds tasks only below its working folder.
    copyFileSync(join(import.meta.dirname, TASK), join(folder, TASK));
    const ends = join(folder, 'ends.jsonl');
    const startedAt = performance.now();
    await run(
      program,
      [
        'eval',
        TASK,
        '--model=openai-api/bench/scripted',
        ...Object.entries({ dataset, ends, limit: load.tasks }).flatMap(([name, value]) => ['-T', `${name}=${value}`]),
        `--epochs=${load.samples}`,
        `--max-connections=${load.requests}`,
        `--log-dir=${join(folder, 'logs')}`,
        '--display=none',
      ],
      {
        cwd: folder,
        env: { BENCH_BASE_URL: model, BENCH_API_KEY: 'none', XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder },
      },
    );
    const seconds = (performance.now() - startedAt) / 1000;
    return { seconds, ends: endsOf(ends, load.tasks * load.samples) };
  } finally {
    remove();
    forget();
  }
}

/** What the scorer has noted: its own log is compressed in a way of its own. */
function endsOf(path: string, runs: number): number[] {
  const ends: { at: number; passed: boolean }[] = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const passed = ends.filter((end) => end.passed).length;
  if (ends.length !== runs || passed !== runs)
    throw new Error(`inspect_ai passed ${passed} of ${ends.length} samples, not ${runs}`);
  return ends.map(({ at }) => at * 1000).sort((a, b) => a - b);
}
