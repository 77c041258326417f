import type { Client } from '@temporalio/client';
import { connectClient, externalTemporal, temporalSettings } from '../temporal/connection.ts';
import { type DevInfo, devStatus, ensureDev } from '../temporal/embedded/dev.ts';
import { type Context, note } from './context.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { requireOneMeaning, runningSweeps } from './running-sweeps.ts';

export interface Temporal {
  client: Client;
  namespace: string;
  /** Empty with a cluster of the environment. */
  uiUrl: string;
}

interface Start {
  context: Context;
  /** The sweep it is for; the worker gets that one's environment. */
  prepared?: PreparedSweep;
  /** For the worker, in place of the sweep's or the command's. */
  env?: Context['env'];
  /** Uses a worker that runs as it is: the default when it is for no sweep. */
  onlyWhenIdle?: boolean;
}

/**
 * Starts what does not run yet (embedded server and worker), for every command that does. Refuses what would take the worker, or what its
 * environment means, from another sweep that is running; going on with a running sweep may change the environment of that very one.
 */
export async function startTemporal(start: Start): Promise<DevInfo> {
  const { context, prepared } = start;
  const others = () => runningSweeps({ context, except: prepared === undefined ? [] : [prepared.spec.name] });
  if (prepared !== undefined) requireOneMeaning(await others(), prepared);
  const dev = await ensureDev({
    home: context.home,
    env: start.env ?? prepared?.env ?? context.env,
    log: (line) => note(context, line),
    running: async () => (await others()).map(({ name }) => name),
    onlyWhenIdle: start.onlyWhenIdle ?? prepared === undefined,
  });
  if (dev.storage === 'memory' && dev.uiUrl !== '' && !context.env.QUALITYFLOW_TEMPORAL)
    note(
      context,
      'Temporal keeps its histories in memory, as it was started with QUALITYFLOW_TEMPORAL=memory; QUALITYFLOW_TEMPORAL=file changes that.',
    );
  return dev;
}

/** Starts what does not run yet and connects to it for the time of `work`. */
export async function withStartedTemporal<T>(start: Start, work: (temporal: Temporal) => Promise<T>): Promise<T> {
  const { address, namespace, uiUrl } = await startTemporal(start);
  return connected({ env: start.context.env, address, namespace, uiUrl }, work);
}

/** Connects to what runs, or gives undefined when nothing does: a command that only looks starts nothing. */
export async function withRunningTemporal<T>(
  context: Context,
  work: (temporal: Temporal | undefined) => Promise<T>,
): Promise<T> {
  const dev = await devStatus({ home: context.home });
  if (dev?.state === 'running')
    return connected({ env: context.env, address: dev.address, namespace: dev.namespace, uiUrl: dev.uiUrl }, work);
  const external = externalTemporal(context.env);
  if (external === undefined) return work(undefined);
  return connected({ env: context.env, address: '', namespace: external.namespace, uiUrl: '' }, work);
}

async function connected<T>(
  { env, address, namespace, uiUrl }: { env: Context['env']; address: string; namespace: string; uiUrl: string },
  work: (temporal: Temporal) => Promise<T>,
): Promise<T> {
  const settings = temporalSettings({ env, address, namespace });
  const { client, connection } = await connectClient(settings);
  try {
    return await work({ client, namespace: settings.namespace, uiUrl });
  } finally {
    await connection.close();
  }
}
