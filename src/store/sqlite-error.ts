import { StoreError } from './store-error.ts';

/** Primary result codes of SQLite (sqlite.org/rescode.html); an extended code carries its primary in the low byte. */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** The primary result code, or undefined when SQLite did not throw this. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** Another process holds the write lock: try again later. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

/** The file that was read is damaged; writing never gives this. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error);
  return code === CORRUPT || code === NOTADB;
}

/** SQLite itself takes an empty file for an empty database, and what was lost with it would look as if it had never been. */
export function emptyStore(file: string): StoreError {
  return new StoreError({
    kind: 'corrupt',
    message: `The database ${file} is damaged: it is an empty file.`,
    remedy: 'Restore it from a backup, or remove it together with its -wal and -shm files to start afresh.',
  });
}

/** An open database goes on with the file that it has opened, whose name may belong to another one by now, or to none. */
export function otherStore(file: string, now: 'replaced' | 'removed'): StoreError {
  return new StoreError({
    kind: now,
    message: `The database ${file} was ${now} while this was running.`,
    remedy: 'Run `qualityflow down` before a backup is put in its place, then run this again.',
  });
}

/** Puts what a person can act upon in the place of SQLite's words; any other error passes through unchanged. */
export function explainSqliteError(error: unknown, file: string): unknown {
  const code = resultCode(error);
  const cause = error;
  switch (code) {
    case BUSY:
    case LOCKED:
      return new StoreError({
        kind: 'busy',
        message: `The database ${file} stayed locked by another process.`,
        remedy: 'Stop the program that keeps it open (a backup, a database browser) and try again.',
        cause,
      });
    case READONLY:
    case CANTOPEN:
      return new StoreError({
        kind: 'unavailable',
        message: `The database ${file} cannot be opened for writing.`,
        remedy: 'Check the owner and permissions of the folder, or choose another one with QUALITYFLOW_HOME.',
        cause,
      });
    case CORRUPT:
    case NOTADB:
      return new StoreError({
        kind: 'corrupt',
        message: `The file ${file} is damaged or is not a database.`,
        remedy: 'Restore it from a backup, or move it away together with its -wal and -shm files to start afresh.',
        cause,
      });
    case FULL:
    case IOERR:
      return new StoreError({
        kind: 'full',
        message: `Writing to the database ${file} failed: the disk is full or faulty.`,
        remedy: 'Free some space on that disk and try again.',
        cause,
      });
    default:
      return error;
  }
}
