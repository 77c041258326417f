import type { Surroundings } from '../spec/identity.ts';
import type { Store, SweepRow } from '../store/store.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import type { Temporal } from './connect.ts';
import { type Context, note } from './context.ts';
import { ensureReady } from './ensure-ready.ts';
import { followSweep } from './follow-sweep.ts';
import { requireSameConditions } from './launch-sweep.ts';
import { requireSweep } from './open-state.ts';
import { type PreparedSweep, prepareSweep } from './prepare-sweep.ts';
import { releaseProblems } from './release-sweep.ts';
import { sandboxFingerprint, surroundingsOf } from './surroundings.ts';
import { showResult } from './sweep-result.ts';
import { announce, detached } from './sweep-run.ts';
import { startSweep, sweepRun } from './sweep-runs.ts';
import { untilClosed } from './until-closed.ts';
import type { ExitCode } from './user-error.ts';

/** Everything that must hold before a sweep of the store goes on: benchmark, model and sandbox are what they were when it began. */
export async function prepareToGoOn(input: {
  context: Context;
  sweep: SweepRow;
  dataDir: string | undefined;
}): Promise<{ prepared: PreparedSweep; surroundings: Surroundings }> {
  const { context, sweep } = input;
  const prepared = await prepareSweep({ context, spec: sweep.spec, dataDir: input.dataDir });
  await ensureReady({ context, env: prepared.env });
  const surroundings = surroundingsOf(prepared, await sandboxFingerprint(context));
  requireSameConditions(sweep, surroundings);
  return { prepared, surroundings };
}

/**
 * Ends a pause or a block, starts the sweep's workflow or joins the one that runs (one that is being cancelled ends first), and follows it to its end. One that was joined may have
 * been done already with runs that are unfinished now, or unfinished again since an older store was restored: what it has not tried is
 * started after it.
 */
export async function goOn(input: {
  context: Context;
  store: Store;
  temporal: Temporal;
  name: string;
  detach: boolean;
  json: boolean;
}): Promise<ExitCode> {
  const { context, store, name, json } = input;
  const { client, uiUrl } = input.temporal;
  await untilClosed({ context, client, workflowId: sweepWorkflowId(name), name: `The sweep ${name}` });
  const { state } = await requireSweep(store, name);
  if (await store.setSweepState(name, 'running', { from: ['paused', 'blocked'] }))
    note(context, `The sweep ${name} was ${state}; it goes on.`);
  const sweep = await requireSweep(store, name);
  const joined = (await sweepRun(client, name)) === 'running';
  const wanted = joined ? await attemptsToMake(store, sweep) : [];
  await startSweep(client, sweep);
  // Problems that wait, of a run that is still there, need not wait for their next look; one that is not told looks all the same.
  await releaseProblems(client, name).catch(() => 0);
  announce(context, sweep, uiUrl);
  if (input.detach) return detached(context, sweep, json);
  let followed = await followSweep({ context, store, client, sweep });
  if (followed.kind === 'ended' && followed.run === 'completed') {
    const left = new Set(await attemptsToMake(store, sweep));
    if (wanted.some((attempt) => left.has(attempt))) {
      await startSweep(client, sweep);
      followed = await followSweep({ context, store, client, sweep });
    }
  }
  return showResult({ context, store, sweep, followed, json });
}

/** One that was made in vain is no more among them: the next one of its run is. */
async function attemptsToMake(store: Store, { name, planned }: SweepRow): Promise<string[]> {
  const runs = await store.listUnfinished({ sweep: name, from: 0, to: planned, limit: planned });
  return runs.map(({ position, attempt }) => `${position} ${attempt}`);
}
