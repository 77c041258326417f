import { isDeepStrictEqual } from 'node:util';
import { openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { selectTasks } from '../problems/select-tasks.ts';
import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { checkBenchmark, locateBenchmark } from '../spec/parse-spec.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { SweepPlan, SweepRow } from '../store/store.ts';
import { type Context, note } from './context.ts';
import { forkedSpec, nameBeside } from './fork-sweep.ts';
import { withSweep } from './open-state.ts';
import { type OperationalFlags, operationalChange } from './operational-flags.ts';
import { prepareSweep } from './prepare-sweep.ts';
import { specError } from './spec-input.ts';
import { launch } from './sweep-run.ts';
import { type ExitCode, UserError } from './user-error.ts';

/**
 * `sweep extend NAME --benchmark B`: the same sweep on a benchmark that grades the same tasks by other tests, as humaneval+ does those
 * of humaneval. It becomes a sweep beside the first, which keeps its outcomes: what was measured by one set of tests is never overwritten by
 * another. A task that both put in the same words costs no request; one that is worded otherwise is another question, and is asked.
 */
export function extendToBenchmark(input: {
  context: Context;
  name: string;
  benchmark: string;
  /** Name of the new sweep; `NAME-plus` when absent. */
  fork: string | undefined;
  budget?: OperationalFlags;
  dataDir: string | undefined;
  detach: boolean;
  json: boolean;
}): Promise<ExitCode> {
  const { context, name } = input;
  return withSweep<ExitCode>(context, name, async (store, sweep) => {
    const change = operationalChange(input.budget ?? {}, sweep.spec);
    const spec = { ...(await specOnto(input, sweep)), ...change };
    const there = await store.getPlan(spec.name);
    if (there !== undefined) refuseSecondExtension(name, there, spec);
    const prepared = await prepareSweep({ context, spec, dataDir: input.dataDir });
    return launch({ context, prepared, from: name, detach: input.detach, json: input.json });
  });
}

/** The same extension again is meant to grow the one that is there; any other sweep of that name is told as a name in use. */
export function refuseSecondExtension(from: string, there: Pick<SweepPlan, 'name' | 'spec'>, wanted: SweepSpec): void {
  if (there.spec.benchmark !== wanted.benchmark || !isDeepStrictEqual(there.spec.strategy, wanted.strategy)) return;
  throw new UserError({
    message: `${from} was extended to ${terminalLine(wanted.benchmark)} already: that is the sweep ${there.name}`,
    remedy: `Let it grow by \`qualityflow sweep extend ${there.name} --limit N\` (or --samples N), or name another one by --fork`,
    exitCode: 2,
  });
}

/** The sweep's spec on the other benchmark, for those of its tasks that it has. */
export async function specOnto(
  {
    context,
    name,
    benchmark: wanted,
    fork,
    dataDir: flag,
  }: Pick<Parameters<typeof extendToBenchmark>[0], 'context' | 'name' | 'benchmark' | 'fork' | 'dataDir'>,
  sweep: SweepRow,
): Promise<SweepSpec> {
  const benchmark = locateBenchmark(wanted, context.cwd);
  if (benchmark === sweep.spec.benchmark) {
    throw new UserError({
      message: `The sweep ${name} is on ${terminalLine(benchmark)} already`,
      remedy: 'Name the benchmark with the other tests, such as humaneval+ for humaneval',
      exitCode: 2,
    });
  }
  const problems = checkBenchmark(benchmark, sweep.spec.strategy);
  if (problems.length > 0) throw specError('--benchmark', problems);
  const dataDir = resolveDataDir({ flag, env: context.env });
  const [before, after] = await Promise.all(
    [sweep.spec.benchmark, benchmark].map((each) => openBenchmark({ benchmark: each, dataDir, home: context.home })),
  );
  if (before === undefined || after === undefined) throw new Error('two benchmarks were opened');
  const known = new Set(after.taskIds);
  const tasks = sweep.tasks.filter((taskId) => known.has(taskId));
  if (tasks.length === 0) {
    throw new UserError({
      message: `${terminalLine(benchmark)} has none of the tasks of ${name}, which is on ${terminalLine(sweep.spec.benchmark)}`,
      remedy: 'Name a benchmark of the same tasks, such as humaneval+ for humaneval, mbpp+ for mbpp-sanitized',
      exitCode: 2,
    });
  }
  const absent = sweep.tasks.length - tasks.length;
  if (absent > 0)
    note(
      context,
      `${counted(absent, 'task')} of ${name} ${absent === 1 ? 'is' : 'are'} not in ${terminalLine(benchmark)}, and left out.`,
    );
  const inBoth = new Set(before.taskIds);
  const reworded = tasks.filter(
    (taskId) => !inBoth.has(taskId) || !isDeepStrictEqual(before.problem(taskId), after.problem(taskId)),
  );
  if (reworded.length > 0) {
    note(
      context,
      `${counted(reworded.length, 'task')} of ${tasks.length} ${reworded.length === 1 ? 'is' : 'are'} worded otherwise in ${terminalLine(benchmark)}, and asked anew: ${terminalLine(reworded.slice(0, 5).join(', '))}${reworded.length > 5 ? ', …' : ''}.`,
    );
  }
  return { ...forkedSpec(sweep.spec, fork ?? nameBeside(name)), benchmark, ...selectionOf(sweep, tasks, after) };
}

/** The sweep's own selection where it gives these very tasks, so that the new sweep can grow as the old one could; else their list. */
function selectionOf(
  { spec, tasks: before }: SweepRow,
  tasks: string[],
  benchmark: { name: string; taskIds: readonly string[] },
): Pick<SweepSpec, 'tasks' | 'shuffle' | 'limit'> {
  const { tasks: named, shuffle, limit } = spec;
  if (tasks.length === before.length) {
    const again = selectTasks({ benchmark, tasks: named, shuffle, limit });
    if (isDeepStrictEqual(again, tasks)) return { tasks: named, shuffle, limit };
  }
  return { tasks, shuffle: undefined, limit: undefined };
}
