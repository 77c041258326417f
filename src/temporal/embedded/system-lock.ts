import { DatabaseSync } from 'node:sqlite';

export interface SystemLock {
  release(): void;
}

/** Nothing else may hold on to them, and a database that is garbage collected is closed, its lock gone. */
const held = new Set<DatabaseSync>();

/**
 * Takes an exclusive lock that the system itself releases when the process ends, `kill -9` included; undefined when somebody holds it.
 * SQLite takes the advisory file locks that Node does not offer. A bound socket alone would not do: after a kill its file remains,
 * and of two processes that both find it dead, the slower one would unlink the socket which the faster one has just bound.
 */
export function takeLock(path: string): SystemLock | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/.test(error.message)) return undefined;
    throw error;
  }
  held.add(database);
  return {
    release: () => {
      held.delete(database);
      database.close();
    },
  };
}
