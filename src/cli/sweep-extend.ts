import { selectTasks } from '../problems/select-tasks.ts';
import { counted } from '../reports/terminal.ts';
import { specIdentity } from '../spec/identity.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { SweepRow } from '../store/store.ts';
import { withRunningTemporal, withStartedTemporal } from './connect.ts';
import { type Context, note } from './context.ts';
import { goOn, prepareToGoOn } from './go-on.ts';
import { requireSweep, withSweep } from './open-state.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { sweepRun } from './sweep-runs.ts';
import { type ExitCode, UserError } from './user-error.ts';

/**
 * `sweep extend`: more samples a task, or more tasks, of the same sweep; what it has is kept, and only the difference is run and paid for.
 * Not while the sweep's workflow is running: its shards share out the plan as it was.
 */
export function extendSweepCommand(input: {
  context: Context;
  name: string;
  samples?: string;
  limit?: string;
  detach?: boolean;
  dataDir?: string;
  json?: boolean;
}): Promise<ExitCode> {
  const { context, name } = input;
  const samples = wholeNumber('--samples', input.samples);
  const limit = wholeNumber('--limit', input.limit);
  if (samples === undefined && limit === undefined) {
    throw new UserError({
      message: 'Nothing says by what the sweep is to be extended',
      remedy: 'Give --samples or --limit',
      exitCode: 2,
    });
  }
  return withSweep<ExitCode>(context, name, async (store, sweep) => {
    await requireAtRest(context, name);
    const { prepared, surroundings } = await prepareToGoOn({ context, sweep, dataDir: input.dataDir });
    const grown = grow({ sweep, prepared, samples, limit });
    return withStartedTemporal<ExitCode>({ context, env: prepared.env }, async (temporal) => {
      const extended = await store.extendSweep({
        name,
        fromHash: sweep.specHash,
        samples: grown.spec.samples,
        limit: grown.spec.limit,
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
      const row = await requireSweep(store, name);
      note(context, `${name} grows from ${sweep.planned} runs to ${row.planned}.`);
      return goOn({ context, store, temporal, name, detach: input.detach === true, json: input.json === true });
    });
  });
}

async function requireAtRest(context: Context, name: string): Promise<void> {
  const running = await withRunningTemporal(
    context,
    async (temporal) => temporal !== undefined && (await sweepRun(temporal.client, name)) === 'running',
  );
  if (!running) return;
  throw new UserError({
    message: `The sweep ${name} is running, and is extended only at rest`,
    remedy: `Wait for its end (\`qualityflow sweep watch ${name}\`), or cancel it first: what is finished stays`,
    exitCode: 2,
  });
}

/** The larger plan, or a refusal where it would not hold everything that the present one does. */
function grow(input: {
  sweep: SweepRow;
  prepared: PreparedSweep;
  samples: number | undefined;
  limit: number | undefined;
}): { spec: SweepSpec; tasks: string[] } {
  const { sweep, prepared } = input;
  const spec: SweepSpec = {
    ...sweep.spec,
    samples: input.samples ?? sweep.spec.samples,
    ...(input.limit === undefined ? {} : { limit: input.limit }),
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

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UserError({
    message: `${flag} ${JSON.stringify(text)} is no whole number from 1`,
    remedy: `Give one, such as ${flag} 10`,
    exitCode: 2,
  });
}
