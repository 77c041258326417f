import { DatabaseSync } from 'node:sqlite';
import { InfrastructureError } from '../infrastructure-error.ts';

export interface SystemLock {
  release(): void;
}

/** Nothing else may hold on to them, and a database that is garbage collected is closed, its lock gone. */
const held = new Set<DatabaseSync>();

/**
 * Takes an exclusive lock that the system itself releases when the process ends, `kill -9` included; undefined when somebody holds it. Throws
 * `InfrastructureError` when nobody can. Writes nothing: what runs can be stopped on a full disk, too.
 * SQLite takes the advisory file locks that Node does not offer. A bound socket alone would not do: after a kill its file remains,
 * and of two processes that both find it dead, the slower one would unlink the socket which the faster one has just bound.
 */
export function takeLock(path: string): SystemLock | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    const message = error instanceof Error ? error.message : String(error);
    if (/locked|busy/.test(message)) return undefined;
    throw /not a database|malformed/.test(message)
      ? new InfrastructureError(`The lock file ${path} is damaged.`, 'Delete it and run the command again.', error)
      : new InfrastructureError(
          `The lock ${path} cannot be taken: ${message}.`,
          'Check the free space, the owner and the permissions of its folder, or choose another one with QUALITYFLOW_HOME.',
          error,
        );
  }
  const lock = database;
  held.add(lock);
  return {
    release: () => {
      held.delete(lock);
      lock.close();
    },
  };
}
