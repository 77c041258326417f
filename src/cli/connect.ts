import type { Client } from '@temporalio/client';
import { connectClient, externalTemporal, temporalSettings } from '../temporal/connection.ts';
import { devStatus, ensureDev } from '../temporal/embedded/dev.ts';
import { type Context, note } from './context.ts';

export interface Temporal {
  client: Client;
  namespace: string;
  /** Empty with a cluster of the environment. */
  uiUrl: string;
}

/** Starts what does not run yet (embedded server and worker) and connects to it for the time of `work`. */
export async function withStartedTemporal<T>(
  { context, env }: { context: Context; env: Context['env'] },
  work: (temporal: Temporal) => Promise<T>,
): Promise<T> {
  const dev = await ensureDev({ home: context.home, env, log: (line) => note(context, line) });
  return connected({ env, address: dev.address, namespace: dev.namespace, uiUrl: dev.uiUrl }, work);
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
