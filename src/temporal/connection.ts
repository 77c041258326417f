/** Where Temporal is, and how to ask it. */
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { InfrastructureError } from './infrastructure-error.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface TemporalSettings {
  connectionOptions: NativeConnectionOptions;
  namespace: string;
}

/**
 * The cluster that the environment names (`TEMPORAL_ADDRESS`, or a profile of a `temporal.toml`), with TLS and API key as Temporal's
 * own configuration has them; undefined for the embedded server. A `temporal.toml` in its default place does not count by itself:
 * it is there for the user's other work, and a sweep must not wander off to that cluster unasked.
 */
export function externalTemporal(env: Env): TemporalSettings | undefined {
  if (!env.TEMPORAL_ADDRESS && !env.TEMPORAL_PROFILE && !env.TEMPORAL_CONFIG_FILE) return undefined;
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: present(env) });
  return { connectionOptions, namespace: namespace ?? 'default' };
}

/** `address` and `namespace` are those of the embedded server, used when the environment names no cluster. */
export function temporalSettings(options: { env: Env; address: string; namespace: string }): TemporalSettings {
  const { env, address, namespace } = options;
  return externalTemporal(env) ?? { connectionOptions: { address }, namespace };
}

/** For starting and asking about workflows. Close the connection when done. */
export async function connectClient(settings: TemporalSettings): Promise<{ client: Client; connection: Connection }> {
  const { address, tls, apiKey, metadata } = settings.connectionOptions;
  const connection = await reachable(settings, () =>
    Connection.connect({
      connectTimeout: '5s',
      ...(address === undefined ? {} : { address }),
      ...(tls === undefined ? {} : { tls }),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(metadata === undefined ? {} : { metadata }),
    }),
  );
  return { client: new Client({ connection, namespace: settings.namespace }), connection };
}

/** Says in our words that nobody answers. */
export async function reachable<T>(settings: TemporalSettings, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    throw new InfrastructureError(
      `Temporal does not answer at ${settings.connectionOptions.address ?? 'its default address'}.`,
      'Check TEMPORAL_ADDRESS and the network, or unset it to use the embedded server.',
      error,
    );
  }
}

function present(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
