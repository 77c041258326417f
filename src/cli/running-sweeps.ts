import type { SweepRow } from '../store/store.ts';
import { connectClient, temporalSettings } from '../temporal/connection.ts';
import { devStatus } from '../temporal/embedded/dev.ts';
import type { Context } from './context.ts';
import { hasStore, withStore } from './open-state.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { sweepRun, sweepsWithLoneProblems } from './sweep-runs.ts';
import { UserError } from './user-error.ts';

/** A paused or blocked sweep goes on with the worker it has. */
const WORKING: readonly SweepRow['state'][] = ['running', 'paused', 'blocked'];

/**
 * The sweeps of this home that a worker works for now or, when nothing runs, will as soon as one does; without those of the names
 * `except`. Temporal has the last word where it can be asked: what the store calls running may have been terminated there.
 */
export async function runningSweeps({
  context,
  except = [],
}: {
  context: Context;
  except?: readonly string[];
}): Promise<SweepRow[]> {
  if (!hasStore(context)) return [];
  const rows = (await withStore(context, (store) => store.listSweeps())).filter(({ name }) => !except.includes(name));
  const dev = rows.length === 0 ? undefined : await devStatus({ home: context.home });
  const marked = rows.filter(({ state }) => WORKING.includes(state));
  if (dev?.state !== 'running') return marked;
  const settings = temporalSettings({ env: context.env, address: dev.address, namespace: dev.namespace });
  // This environment leads to another cluster, which knows nothing of these sweeps.
  if (settings.connectionOptions.address !== dev.address || settings.namespace !== dev.namespace) return marked;
  try {
    const { client, connection } = await connectClient(settings);
    try {
      const working = rows.filter(({ state }) => state === 'created' || WORKING.includes(state));
      const runs = await Promise.all(working.map(({ name }) => sweepRun(client, name)));
      const names = new Set(working.filter((_, index) => runs[index] === 'running').map(({ name }) => name));
      // A retried problem keeps the worker whatever its sweep's state is.
      for (const name of await sweepsWithLoneProblems(client)) names.add(name);
      return rows.filter(({ name }) => names.has(name));
    } finally {
      await connection.close();
    }
  } catch {
    return marked;
  }
}

/**
 * Refuses to start beside a running sweep whose endpoint has the same name but leads elsewhere: one worker serves both, and its
 * environment can hold only one of the two.
 */
export function requireOneMeaning(running: readonly SweepRow[], { spec, endpoint }: PreparedSweep): void {
  const other = running.find(
    (row) => row.spec.model.endpoint === spec.model.endpoint && row.endpointIdentity !== endpoint.identity,
  );
  if (other === undefined) return;
  throw new UserError({
    message: `The endpoint ${spec.model.endpoint} leads to ${endpoint.identity} here, but the running sweep ${other.name} uses it for ${other.endpointIdentity}`,
    remedy: `Wait for ${other.name} or cancel it, or give this sweep another QUALITYFLOW_HOME`,
    exitCode: 2,
  });
}
