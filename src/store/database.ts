import { rmSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { knownMigrations, migrationProvider } from './migrations.ts';
import type { Schema } from './schema.ts';
import { emptyStore, explainSqliteError, isBusy, otherStore } from './sqlite-error.ts';
import { StoreError } from './store-error.ts';

/** How long SQLite itself waits for a lock, blocking the event loop; the rest of the waiting is asynchronous. */
const BUSY_TIMEOUT_MS = 100;
/** A writer holds the lock for milliseconds; one that holds it this long is not one of ours. */
const GIVE_UP_AFTER_MS = 60_000;

/** Between a new file's making and its first write, on a busy machine. */
const BEING_MADE_MS = 2000;

/** Statements kept compiled; ours are about fifty, and those with lists of values differ by length. */
const MAX_PREPARED = 200;

/** A migrated database file, open in this process and possibly in others. */
export interface Database {
  /** Runs statements that need no transaction, again and again while another process holds the lock. */
  run<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T>;
  /**
   * Runs `work` under BEGIN IMMEDIATE: the write lock comes first, so a read within it cannot go stale. `work` runs again when the lock
   * was refused, so it has no effects but on the database.
   */
  transact<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T>;
  /** Throws the `StoreError` `replaced` or `removed` when the file at this path is no more the one that was opened; so do `run` and `transact`. */
  requireSameFile(): void;
  close(): Promise<void>;
}

/** Opens or creates `file` with its folder and brings its schema up to date. Fails with a `StoreError`. */
export async function openDatabase(file: string): Promise<Database> {
  const handle = await open(file);
  const opened = fileIdentity(file);
  const requireSameFile = () => {
    const now = fileIdentity(file);
    if (now !== opened) throw otherStore(file, now === undefined ? 'removed' : 'replaced');
  };
  const prepared = new Map<string, Shim>();
  const prepare = (text: string): Shim => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    if (prepared.size >= MAX_PREPARED) prepared.clear();
    const made = shim(handle, text);
    prepared.set(text, made);
    return made;
  };
  const db = new Kysely<Schema>({
    dialect: new SqliteDialect({
      database: { prepare, close: () => handle.close() },
    }),
  });
  try {
    await migrate({ file, handle, db });
  } catch (error) {
    handle.close();
    throw error;
  }
  return {
    run: async (work) => {
      requireSameFile();
      return whileBusy(file, () => work(db));
    },
    transact: async (work) => {
      requireSameFile();
      return whileBusy(file, () => immediate(db, work));
    },
    requireSameFile,
    close: () => db.destroy(),
  };
}

async function open(file: string): Promise<DatabaseSync> {
  try {
    await mkdir(dirname(file), { recursive: true });
  } catch (cause) {
    throw new StoreError({
      kind: 'unavailable',
      message: `The folder ${dirname(file)} cannot be created.`,
      remedy: 'Check the path and its permissions, or choose another one with QUALITYFLOW_HOME.',
      cause,
    });
  }
  const absent = fileIdentity(file) === undefined;
  if (!absent) await requireContent(file);
  return whileBusy(file, async () => {
    const handle = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    try {
      handle.exec('PRAGMA journal_mode = WAL');
      // With WAL, NORMAL survives a killed process whole; only a power cut may lose the last commits, never the file.
      handle.exec('PRAGMA synchronous = NORMAL');
      return handle;
    } catch (error) {
      handle.close();
      // A full disk leaves the new file empty, which would count as a damaged store from then on.
      if (absent && !isBusy(error) && sizeOf(file) === 0) rmSync(file, { force: true });
      throw error;
    }
  });
}

/** Device and inode; undefined when there is no such file. */
function fileIdentity(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

/** One that another process is just making is empty for a moment. */
async function requireContent(file: string): Promise<void> {
  const giveUpAt = performance.now() + BEING_MADE_MS;
  while (sizeOf(file) === 0) {
    if (performance.now() > giveUpAt) throw emptyStore(file);
    await sleep(20);
  }
}

type Shim = ReturnType<typeof shim>;

/** What Kysely's SQLite dialect asks of a statement, served by Node's own. Rows that are streamed need a statement that nobody else restarts. */
function shim(handle: DatabaseSync, text: string) {
  const statement = handle.prepare(text);
  return {
    reader: statement.columns().length > 0,
    all: (values: readonly unknown[]) => statement.all(...values.map(bindable)),
    run: (values: readonly unknown[]) => statement.run(...values.map(bindable)),
    iterate: (values: readonly unknown[]) => handle.prepare(text).iterate(...values.map(bindable)),
  };
}

function bindable(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  throw new TypeError(`a ${typeof value} cannot be stored`);
}

/** Under one BEGIN IMMEDIATE, so that of two processes that start together one migrates and the other finds it done. */
async function migrate(input: { file: string; handle: DatabaseSync; db: Kysely<Schema> }): Promise<void> {
  const { file, handle, db } = input;
  await whileBusy(file, async () => {
    handle.exec('BEGIN IMMEDIATE');
    try {
      const migrator = new Migrator({ db, provider: migrationProvider });
      refuseNewerSchema(file, handle);
      const { error } = await migrator.migrateToLatest();
      if (error !== undefined) throw error;
      handle.exec('COMMIT');
    } catch (error) {
      if (handle.isTransaction) handle.exec('ROLLBACK');
      throw error;
    }
  });
}

function refuseNewerSchema(file: string, handle: DatabaseSync): void {
  const table = handle.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'kysely_migration'").get();
  if (table === undefined) return;
  const names = handle.prepare('SELECT name FROM kysely_migration').all();
  if (names.every(({ name }) => typeof name === 'string' && knownMigrations.has(name))) return;
  throw new StoreError({
    kind: 'newer_schema',
    message: `The database ${file} was written by a newer version of qualityflow.`,
    remedy: 'Use that version or a later one, or choose another folder with QUALITYFLOW_HOME.',
  });
}

async function immediate<T>(db: Kysely<Schema>, work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`begin immediate`.execute(connection);
    try {
      const result = await work(connection);
      await sql`commit`.execute(connection);
      return result;
    } catch (error) {
      // SQLite has already rolled back by itself after some failures (a full disk); a second rollback is then refused.
      await sql`rollback`.execute(connection).catch(() => undefined);
      throw error;
    }
  });
}

async function whileBusy<T>(file: string, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  for (let delayMs = 5; ; delayMs = Math.min(delayMs * 2, 200)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw explainSqliteError(error, file);
    }
    await sleep(delayMs * (0.5 + Math.random()));
  }
}
