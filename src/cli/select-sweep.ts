import { gradeHidden } from '../grading/grade-hidden.ts';
import { openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { openHiddenTests } from '../problems/hidden.ts';
import { selectTasks } from '../problems/select-tasks.ts';
import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { readMatrix } from '../selection/read-matrix.ts';
import type { Store, SweepRow } from '../store/store.ts';
import { type Context, note } from './context.ts';
import { withSweep } from './open-state.ts';
import { runTask, type TaskPool } from './select-pools.ts';
import { UserError } from './user-error.ts';
import { withSandbox } from './with-sandbox.ts';

/** What a sweep has of one pool: the matrix that was run, or programs and tests to run. */
type Found =
  | { kind: 'matrix'; taskId: string; label: string; text: string }
  | { kind: 'texts'; taskId: string; label: string; programs: string[]; tests: Map<string, number> };

/**
 * The pools of a sweep. One with the strategy `select` has a matrix for each run, which is not run again. From any other, all programs of a
 * task that were graded are run against all asserts that its models designed. With `grade`, labels come from the hidden tests.
 */
export function sweepPools(input: {
  context: Context;
  sweep: string;
  task: string[] | undefined;
  limit: number | undefined;
  grade: boolean;
  dataDir: string | undefined;
  done: (pool: TaskPool) => void;
}): Promise<TaskPool[]> {
  const { context, grade } = input;
  return withSweep(context, input.sweep, async (store, sweep) => {
    const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
    const source = { benchmark: sweep.spec.benchmark, dataDir, home: context.home };
    const benchmark = await openBenchmark(source);
    if (benchmark.sha256 !== sweep.datasetSha256) throw changed(sweep);
    const hidden = grade ? await openHiddenTests(source) : undefined;
    const ofSweep = { name: sweep.name, taskIds: sweep.tasks };
    const tasks = selectTasks({ benchmark: ofSweep, tasks: input.task, limit: input.limit });
    const found: Found[] = [];
    for (const taskId of tasks) {
      const kind = benchmark.problem(taskId).kind;
      found.push(...(sweep.spec.strategy.kind === 'select' ? await matricesOf(store, sweep, taskId) : []));
      if (sweep.spec.strategy.kind !== 'select' && kind === 'function')
        found.push(...(await textsOf(store, sweep, taskId)));
    }
    tellWhatIsMissing(context, { sweep, tasks: tasks.length, found });

    const work = async (sandbox?: Sandbox) => {
      const pools: TaskPool[] = [];
      for (const one of found) {
        const problem = benchmark.problem(one.taskId);
        const sealed = hidden?.hidden(one.taskId);
        const pool =
          one.kind === 'matrix'
            ? { taskId: one.label, file: storedMatrix(one) }
            : await runTask({ sandbox: needed(sandbox), problem, hidden: sealed, ...one });
        if (one.kind === 'matrix' && sealed !== undefined) {
          const programs = pool.file.programs ?? [];
          const texts = [...new Set(programs)];
          const graded = await gradeHidden({ sandbox: needed(sandbox), problem, hidden: sealed, programs: texts });
          const right = new Set(texts.filter((_, at) => graded[at]?.verdict === 'pass'));
          pool.file.correct = programs.map((code) => right.has(code));
        }
        const labelled = { ...pool, taskId: one.label };
        pools.push(labelled);
        input.done(labelled);
      }
      return pools;
    };
    return !grade && found.every(({ kind }) => kind === 'matrix') ? work() : withSandbox(context, work);
  });
}

/** The matrix of the latest attempt of each run. */
async function matricesOf(store: Store, { name, spec }: SweepRow, taskId: string): Promise<Found[]> {
  const found: Found[] = [];
  for (let sample = 0; sample < spec.samples; sample++) {
    const rows = await store.steps({ sweep: name, taskId, sample });
    const row = rows.findLast(({ activity }) => activity === 'runPool');
    const label = spec.samples === 1 ? taskId : `${taskId}#${sample}`;
    if (row !== undefined) found.push({ kind: 'matrix', taskId, label, text: row.result });
  }
  return found;
}

async function textsOf(store: Store, { name, spec }: SweepRow, taskId: string): Promise<Found[]> {
  const programs: string[] = [];
  const tests = new Map<string, number>();
  for (let sample = 0; sample < spec.samples; sample++) {
    const key = { sweep: name, taskId, sample };
    programs.push(...((await store.getOutcome(key))?.trail ?? []).map(({ code }) => code));
    for (const { activity, result } of await store.steps(key)) {
      if (activity !== 'designTests') continue;
      const designed: { tests?: { source?: string }[] } = JSON.parse(result);
      for (const { source } of designed.tests ?? [])
        if (source !== undefined) tests.set(source, (tests.get(source) ?? 0) + 1);
    }
  }
  return programs.length === 0 || tests.size === 0 ? [] : [{ kind: 'texts', taskId, label: taskId, programs, tests }];
}

function storedMatrix({ label, text }: { label: string; text: string }): TaskPool['file'] {
  const reading = readMatrix(text);
  if (reading.kind === 'matrix') return { ...reading.file, taskId: label };
  throw new Error(`the stored matrix of ${label} cannot be read: ${reading.message}`);
}

function tellWhatIsMissing(
  context: Context,
  { sweep, tasks, found }: { sweep: SweepRow; tasks: number; found: readonly Found[] },
): void {
  const have = new Set(found.map(({ taskId }) => taskId)).size;
  if (have === 0) {
    throw new UserError({
      message: `The sweep ${terminalLine(sweep.name)} holds no program with tests that a model wrote for the same task`,
      remedy:
        sweep.spec.strategy.kind === 'zero-shot'
          ? 'Zero-shot writes no tests: run a sweep with the strategy select, which reuses its replies where the requests are the same'
          : 'A QualityFlow run designs tests only where its first program is rejected; one that still runs may do so yet: see `qualityflow sweep status`',
      exitCode: 2,
    });
  }
  const missing = tasks - have;
  if (missing > 0) note(context, `${counted(missing, 'task')} of ${tasks} without programs and tests, and left out.`);
}

function needed(sandbox: Sandbox | undefined): Sandbox {
  if (sandbox === undefined) throw new Error('a pool that is to be run needs a sandbox');
  return sandbox;
}

function changed({ name, spec }: SweepRow): UserError {
  return new UserError({
    message: `${terminalLine(spec.benchmark)} has changed since the sweep ${terminalLine(name)} was planned`,
    remedy: 'Put the file of then back',
    exitCode: 2,
  });
}
