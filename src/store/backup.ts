import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { emptyStore, explainSqliteError, isDamage } from './sqlite-error.ts';
import { StoreError } from './store-error.ts';

/**
 * Writes the store as it stands at one moment into the new file `to`, whatever other processes write meanwhile: one file, complete without
 * `-wal` and `-shm`. It has its name only when it is whole. Throws `StoreError`; never overwrites.
 */
export function backUpStore({ from, to }: { from: string; to: string }): void {
  requireNewFile(to);
  if (statSync(from, { throwIfNoEntry: false })?.size === 0) throw emptyStore(from);
  const database = open(from);
  const unfinished = `${to}.${process.pid}.tmp`;
  try {
    copy(database, from, unfinished);
    // A copy takes a while, in which somebody may have taken the name.
    requireNewFile(to);
    renameSync(unfinished, to);
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'unavailable') throw unwritable(to, error);
    throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function requireNewFile(to: string): void {
  const there = statSync(to, { throwIfNoEntry: false });
  if (there?.isDirectory() === true) {
    throw new StoreError({
      kind: 'invalid',
      message: `${to} is a folder.`,
      remedy: 'Name a new file in it for the backup.',
    });
  }
  if (there !== undefined) throw taken(to);
  const folder = dirname(to);
  if (!existsSync(folder)) {
    throw new StoreError({
      kind: 'invalid',
      message: `The folder ${folder} does not exist.`,
      remedy: 'Make it, or name a file in one that exists.',
    });
  }
}

function taken(to: string): StoreError {
  return new StoreError({
    kind: 'invalid',
    message: `The file ${to} exists already.`,
    remedy: 'Name a new file; a backup overwrites nothing.',
  });
}

function unwritable(to: string, cause: unknown): StoreError {
  return new StoreError({
    kind: 'unavailable',
    message: `The file ${to} cannot be written.`,
    remedy: 'Check the owner and permissions of its folder, or name a file elsewhere.',
    cause,
  });
}

function open(from: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(from, { readOnly: true, timeout: 60_000 });
    // Fails for what is no database, or cannot be read, before the copy can be to blame.
    database.prepare('SELECT count(*) FROM sqlite_master').get();
    return database;
  } catch (error) {
    database?.close();
    throw explainSqliteError(error, from);
  }
}

function copy(database: DatabaseSync, from: string, to: string): void {
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } catch (error) {
    throw explainSqliteError(error, isDamage(error) ? from : to);
  } finally {
    database.close();
  }
}
