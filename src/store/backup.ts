import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { explainSqliteError } from './sqlite-error.ts';
import { StoreError } from './store-error.ts';

/**
 * Writes the store as it stands at one moment into the new file `to`, whatever other processes write meanwhile: one file, complete without
 * `-wal` and `-shm`. Throws `StoreError`; never overwrites.
 */
export function backUpStore({ from, to }: { from: string; to: string }): void {
  if (existsSync(to)) {
    throw new StoreError({
      kind: 'invalid',
      message: `The file ${to} exists already.`,
      remedy: 'Name a new file; a backup overwrites nothing.',
    });
  }
  let at = from;
  try {
    const database = new DatabaseSync(from, { readOnly: true, timeout: 60_000 });
    at = to;
    try {
      database.prepare('VACUUM INTO ?').run(to);
    } finally {
      database.close();
    }
  } catch (error) {
    throw explainSqliteError(error, at);
  }
}
