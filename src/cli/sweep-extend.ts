import { selectTasks } from '../problems/select-tasks.ts';
import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { specIdentity } from '../spec/identity.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { SweepRow } from '../store/store.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import { withRunningTemporal, withStartedTemporal } from './connect.ts';
import { type Context, note } from './context.ts';
import { extendToBenchmark } from './extend-benchmark.ts';
import { extendPrograms } from './extend-programs.ts';
import { goOn, prepareToGoOn } from './go-on.ts';
import { requireSweep, withSweep } from './open-state.ts';
import { type OperationalFlags, operationalChange } from './operational-flags.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { sweepRun } from './sweep-runs.ts';
import { untilClosed } from './until-closed.ts';
import { type ExitCode, UserError } from './user-error.ts';
import { warnGreedy } from './warn-greedy.ts';

export interface ExtendFlags extends Pick<OperationalFlags, 'budgetTokens' | 'budgetUsd'> {
  samples?: string;
  programs?: string;
  limit?: string;
  task?: string[];
  benchmark?: string;
  fork?: string;
  detach?: boolean;
  dataDir?: string;
  json?: boolean;
}

/**
 * `sweep extend`: more samples a task, or more tasks, of the same sweep; what it has is kept, and only the difference is run and paid for,
 * under another budget if one is given.
 * Not while the sweep's workflow is running: its shards share out the plan as it was. Onto other tests: see `extendToBenchmark`; among more programs:
 * `extendPrograms`.
 */
export function extendSweepCommand(input: { context: Context; name: string } & ExtendFlags): Promise<ExitCode> {
  const { context, name } = input;
  const growth = growthOf(input);
  if (growth.programs !== undefined) {
    return extendPrograms({
      context,
      name,
      programs: growth.programs,
      fork: input.fork,
      budget: input,
      dataDir: input.dataDir,
      detach: input.detach === true,
      json: input.json === true,
    });
  }
  if (input.benchmark !== undefined) {
    return extendToBenchmark({
      context,
      name,
      benchmark: input.benchmark,
      fork: input.fork,
      budget: input,
      dataDir: input.dataDir,
      detach: input.detach === true,
      json: input.json === true,
    });
  }
  return withSweep<ExitCode>(context, name, async (store, sweep) => {
    const change = operationalChange(input, sweep.spec);
    await requireAtRest(context, name);
    const { prepared, surroundings } = await prepareToGoOn({ context, sweep, dataDir: input.dataDir });
    const grown = grow({ sweep, prepared, ...growth });
    warnGreedy(context, grown.spec);
    return withStartedTemporal<ExitCode>({ context, env: prepared.env }, async (temporal) => {
      const extended = await store.extendSweep({
        name,
        fromHash: sweep.specHash,
        samples: grown.spec.samples,
        selection: { tasks: grown.spec.tasks, limit: grown.spec.limit },
        specHash: specIdentity(grown.spec, surroundings).hash,
        tasks: grown.tasks,
      });
      if (!extended) {
        throw new UserError({
          message: `The sweep ${name} was changed by another command at the same time`,
          remedy: `Look at it by \`qualityflow sweep status ${name}\`, and run this again if it is still wanted`,
          exitCode: 2,
        });
      }
      if (change !== undefined) await store.updateOperational(name, change);
      const row = await requireSweep(store, name);
      note(context, `${name} grows from ${sweep.planned} runs to ${row.planned}.`);
      return goOn({ context, store, temporal, name, detach: input.detach === true, json: input.json === true });
    });
  });
}

interface Growth {
  samples: number | undefined;
  /** Makes a sweep of its own. */
  programs: number | undefined;
  limit: number | undefined;
  /** Added to those that the spec lists, as people write them. */
  tasks: readonly string[];
}

/** What the flags ask for, or a refusal of what says nothing or contradicts itself. */
function growthOf({ samples, programs, limit, task = [], benchmark, fork }: ExtendFlags): Growth {
  const growth = {
    samples: wholeNumber('--samples', samples),
    programs: wholeNumber('--programs', programs),
    limit: wholeNumber('--limit', limit),
    tasks: task,
  };
  const grows = growth.samples !== undefined || growth.limit !== undefined || task.length > 0;
  const wrong = (message: string, remedy: string) => new UserError({ message, remedy, exitCode: 2 });
  const forks = [benchmark, programs].filter((flag) => flag !== undefined).length;
  if (!grows && forks === 0)
    throw wrong(
      'Nothing says by what the sweep is to be extended',
      'Give --samples, --limit or --task, or --benchmark for other tests of the same tasks, or --programs to select among more',
    );
  if ((grows && forks > 0) || forks > 1)
    throw wrong(
      `--${benchmark === undefined ? 'programs' : 'benchmark'} makes a sweep of its own, and cannot be combined with ${forks > 1 ? '--programs' : '--samples, --limit or --task'}`,
      'Extend the sweep by one, then by the other: replies are reused both times',
    );
  if (fork !== undefined && forks === 0)
    throw wrong(
      '--fork names the sweep that --benchmark or --programs makes, and samples and tasks are added in place',
      'Leave out --fork, or give one of these',
    );
  return growth;
}

async function requireAtRest(context: Context, name: string): Promise<void> {
  const running = await withRunningTemporal(context, async (temporal) => {
    if (temporal === undefined) return false;
    const { client } = temporal;
    await untilClosed({ context, client, workflowId: sweepWorkflowId(name), name: `The sweep ${name}` });
    return (await sweepRun(client, name)) === 'running';
  });
  if (!running) return;
  throw new UserError({
    message: `The sweep ${name} is running, and is extended only at rest`,
    remedy: `Wait for its end (\`qualityflow sweep watch ${name}\`), or cancel it first: what is finished stays`,
    exitCode: 2,
  });
}

/** The larger plan, or a refusal where it would not hold everything that the present one does. */
export function grow(
  input: {
    sweep: SweepRow;
    prepared: PreparedSweep;
  } & Omit<Growth, 'programs'>,
): { spec: SweepSpec; tasks: string[] } {
  const { sweep, prepared } = input;
  const spec: SweepSpec = {
    ...sweep.spec,
    samples: input.samples ?? sweep.spec.samples,
    ...(input.limit === undefined ? {} : { limit: input.limit }),
    ...(input.tasks.length === 0 ? {} : { tasks: longerList(sweep, prepared, input.tasks) }),
  };
  const { benchmark } = prepared;
  const tasks = selectTasks({ benchmark, tasks: spec.tasks, shuffle: spec.shuffle, limit: spec.limit });
  const keepsAll = sweep.tasks.every((taskId, index) => tasks[index] === taskId);
  if (keepsAll && spec.samples >= sweep.spec.samples && tasks.length * spec.samples > sweep.planned)
    return { spec, tasks };
  throw new UserError({
    message: `The sweep ${sweep.name} has ${counted(sweep.tasks.length, 'task')} with ${counted(sweep.spec.samples, 'sample')}; this would give ${tasks.length} with ${spec.samples}, and a sweep only grows`,
    remedy: 'Ask for more than it has, or run another sweep: replies to unchanged requests are reused',
    exitCode: 2,
  });
}

function longerList({ name, spec }: SweepRow, { benchmark }: PreparedSweep, added: readonly string[]): string[] {
  if (spec.tasks === undefined) {
    throw new UserError({
      message: `The sweep ${name} lists no tasks: it runs ${spec.limit === undefined ? 'all' : `the first ${spec.limit}`} of ${terminalLine(spec.benchmark)}`,
      remedy: spec.limit === undefined ? 'Ask for more --samples' : 'Give a higher --limit',
      exitCode: 2,
    });
  }
  return selectTasks({ benchmark, tasks: [...spec.tasks, ...added] });
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UserError({
    message: `${flag} ${JSON.stringify(text)} is no whole number from 1`,
    remedy: `Give one, such as ${flag} 10`,
    exitCode: 2,
  });
}
