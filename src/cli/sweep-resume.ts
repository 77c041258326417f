import type { Store, SweepState } from '../store/store.ts';
import { requireUsefulBudget } from './budget-forecast.ts';
import { withRunningTemporal, withStartedTemporal } from './connect.ts';
import { type Context, note } from './context.ts';
import { forkedSpec } from './fork-sweep.ts';
import { goOn, prepareToGoOn } from './go-on.ts';
import { requireSweep, withSweep } from './open-state.ts';
import { type OperationalFlags, operationalChange } from './operational-flags.ts';
import { prepareSweep } from './prepare-sweep.ts';
import { grouped } from './progress.ts';
import { showResult } from './sweep-result.ts';
import { launch } from './sweep-run.ts';
import { sweepRun } from './sweep-runs.ts';
import type { ExitCode } from './user-error.ts';

const RUNS_ALREADY =
  'The sweep runs already, with as many problems at once as when it was started: --problems holds when it is started again.';

const UNENDED: readonly SweepState[] = ['created', 'running', 'paused', 'blocked', 'cancelled', 'failed'];

/**
 * `sweep resume`: runs what has no final outcome; what is stored is neither paid for nor graded again. Ends a pause or a block, and puts
 * other limits in force first. With `--fork NEW` its spec runs as the new sweep NEW, under conditions that have changed.
 */
export function resumeSweepCommand(
  input: {
    context: Context;
    name: string;
    fork?: string;
    detach?: boolean;
    dataDir?: string;
    json?: boolean;
  } & OperationalFlags,
): Promise<ExitCode> {
  const { context, name } = input;
  return withSweep<ExitCode>(context, name, async (store, before) => {
    const change = operationalChange(input, before.spec);
    if (input.fork !== undefined) {
      const spec = { ...forkedSpec(before.spec, input.fork), ...change };
      const prepared = await prepareSweep({ context, spec, dataDir: input.dataDir });
      requireUsefulBudget(prepared);
      return launch({ context, prepared, from: name, detach: input.detach === true, json: input.json === true });
    }
    const json = input.json === true;
    const isComplete = async () =>
      (await store.listUnfinished({ sweep: name, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1 })).length === 0;
    const putInForce = async () => {
      if (change !== undefined) await store.updateOperational(name, change);
    };
    if (await isComplete()) {
      await putInForce();
      return showComplete({ context, store, name, json });
    }
    const { prepared } = await prepareToGoOn({ context, sweep: before, dataDir: input.dataDir });
    return withStartedTemporal({ context, prepared }, async (temporal) => {
      await putInForce();
      if (input.problems !== undefined && (await sweepRun(temporal.client, name)) === 'running')
        note(context, RUNS_ALREADY);
      // Another shell's resume may have come to the end while this one set up.
      if (await isComplete()) return showComplete({ context, store, name, json });
      await tellBudget(context, store, name);
      return goOn({ context, store, temporal, name, detach: input.detach === true, json });
    });
  });
}

/**
 * Nothing is started for it. Its own workflow, which says so at its end, may have been lost before that; one that is still there says it
 * itself. The row is read first and must not change until it is marked: another shell may be extending it.
 */
async function showComplete(input: { context: Context; store: Store; name: string; json: boolean }): Promise<ExitCode> {
  const { context, store, name } = input;
  const sweep = await requireSweep(store, name);
  const left = await store.listUnfinished({ sweep: name, from: 0, to: sweep.planned, limit: 1 });
  if (left.length === 0 && UNENDED.includes(sweep.state) && !(await mayRun(context, name)))
    await store.setSweepState(name, 'completed', { from: UNENDED, unchangedSince: sweep.updatedAt });
  const runs = sweep.planned === 1 ? 'its one run has' : `all ${sweep.planned} runs have`;
  note(context, `The sweep ${name} is complete: ${runs} a final outcome.`);
  return showResult({ ...input, sweep, followed: { kind: 'ended', run: 'completed' } });
}

/** True also when Temporal is there and does not answer. */
async function mayRun(context: Context, name: string): Promise<boolean> {
  try {
    return await withRunningTemporal(
      context,
      async (temporal) => temporal !== undefined && (await sweepRun(temporal.client, name)) === 'running',
    );
  } catch {
    return true;
  }
}

/** A budget that is used up is said before the runs that need it end; those whose replies are stored need none. */
async function tellBudget(context: Context, store: Store, name: string): Promise<void> {
  const { settled, possiblyCharged, cap } = await store.spent(name);
  const used = settled.tokens + possiblyCharged.tokens;
  const usedMicroUsd = settled.microUsd + possiblyCharged.microUsd;
  const flag =
    cap.tokens !== null && used >= cap.tokens
      ? '--budget-tokens'
      : cap.microUsd !== null && usedMicroUsd >= cap.microUsd
        ? '--budget-usd'
        : undefined;
  if (flag === undefined) return;
  note(
    context,
    `The budget of ${name} is used up (${grouped(used)} tokens): only what needs no new request can go on. Raise it with ${flag}.`,
  );
}
