import { NativeConnection } from '@temporalio/worker';
import { reachable, type TemporalSettings } from './connection.ts';

/** For workers; one connection serves all workers of a process. Apart from `connection.ts`, because loading a worker takes a third of a second. */
export function connectWorkers(settings: TemporalSettings): Promise<NativeConnection> {
  return reachable(settings, () => NativeConnection.connect(settings.connectionOptions));
}
