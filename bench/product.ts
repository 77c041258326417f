import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { startModelProcess } from '../test/chaos/model-process.ts';
import { type Finished, Project } from '../test/support/cli.ts';
import { humanEvalSource } from './human-eval.ts';

/** Where the embedded server keeps its histories. */
export type Storage = 'file' | 'memory';

/** A number of HumanEval runs, zero-shot. */
export interface Load {
  tasks: number;
  samples: number;
  /** Requests at once. */
  requests: number;
  /** Problems open at once. */
  problems: number;
}

/** A project that is set up, with nothing running in it, for the time of `work`; everything of it is removed. */
export async function withProject<T>(storage: Storage, work: (project: Project) => Promise<T>): Promise<T> {
  const { dataDir } = humanEvalSource();
  const project = new Project({
    env: {
      QUALITYFLOW_TEMPORAL: storage,
      ...(dataDir === undefined ? {} : { QUALITYFLOW_DATA_DIR: dataDir }),
    },
  });
  try {
    mustSucceed('setup', await project.run('setup'));
    return await work(project);
  } finally {
    await project.close();
  }
}

/** A model in a process of its own that solves HumanEval, `latencyMs` a request. */
export async function withModel<T>(latencyMs: number, work: (url: string) => Promise<T>): Promise<T> {
  const model = await startModelProcess({ latencyMs, main: join(import.meta.dirname, 'canonical-main.ts') });
  try {
    return await work(model.url);
  } finally {
    await model.stop();
  }
}

/** `sweep run` of a load; resolves when the command has ended, which must be with every run passed. */
export async function runSweep(input: { project: Project; name: string; load: Load; model: string }): Promise<void> {
  const { project, name, load, model } = input;
  const spec = join(project.folder, `${name}.yaml`);
  const content = {
    name,
    benchmark: 'humaneval',
    limit: load.tasks,
    samples: load.samples,
    strategy: 'zero-shot',
    model: { name: 'scripted', endpoint: model },
    concurrency: { problems: load.problems, requests: load.requests },
  };
  // JSON is YAML.
  writeFileSync(spec, JSON.stringify(content));
  const finished = await project.run('sweep', 'run', spec, '--json');
  mustSucceed('sweep run', finished);
  const { outcomes } = JSON.parse(finished.stdout);
  const runs = load.tasks * load.samples;
  if (outcomes.pass !== runs) throw new Error(`not all of ${runs} runs passed: ${JSON.stringify(outcomes)}`);
}

/** Seconds of the whole command, from a state in which nothing runs yet. */
export function sweepSeconds(storage: Storage, load: Load, model: string): Promise<number> {
  return withProject(storage, async (project) => {
    const startedAt = performance.now();
    await runSweep({ project, name: 'bench', load, model });
    return (performance.now() - startedAt) / 1000;
  });
}

export async function withStoreOf<T>(project: Project, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ home: project.home });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** When each run's outcome was recorded, in ms since 1970, ascending. */
export function outcomeTimes(project: Project, sweep: string): Promise<number[]> {
  return withStoreOf(project, async (store) => {
    const times: number[] = [];
    for await (const { recordedAt } of store.outcomes(sweep)) times.push(Date.parse(recordedAt));
    return times.sort((a, b) => a - b);
  });
}

/** Runs a second between the tenth and the ninetieth hundredth of the ends: without start and drain. */
export function steadyRate(times: readonly number[]): number {
  const from = Math.floor(times.length * 0.1);
  const to = Math.ceil(times.length * 0.9) - 1;
  const [first, last] = [times[from], times[to]];
  if (first === undefined || last === undefined || last <= first) throw new RangeError('too few ends for a rate');
  return ((to - from) * 1000) / (last - first);
}

/** Waits until `reached` gives something, asking five times a second. */
export async function until<T>(reached: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await reached();
    if (value !== undefined) return value;
    await sleep(200);
  }
}

function mustSucceed(what: string, { code, stderr }: Finished): void {
  if (code !== 0) throw new Error(`${what} ended with ${code}: ${stderr.slice(-2000)}`);
}
