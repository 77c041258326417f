import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suggest } from '../problems/suggest.ts';
import { openStore } from '../store/open-store.ts';
import type { Store, SweepRow } from '../store/store.ts';
import { prepareHome } from '../temporal/embedded/home.ts';
import type { Context } from './context.ts';
import { UserError } from './user-error.ts';

/** Opens the store for the time of `work`; makes the state folder when it is absent. */
export async function withStore<T>(context: Context, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ home: prepareHome(context.home) });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export function storeFile(context: Context): string {
  return join(context.home, 'qualityflow.db');
}

/** Whether this folder has any state: a command that only looks makes none. */
export function hasStore(context: Context): boolean {
  return existsSync(storeFile(context));
}

/** Opens the store for a command that looks at the sweep `name`; refuses a name that is not there, with the nearest one that is. */
export async function withSweep<T>(
  context: Context,
  name: string,
  work: (store: Store, sweep: SweepRow) => Promise<T>,
): Promise<T> {
  if (!hasStore(context)) throw unknownSweep(name, []);
  return withStore(context, async (store) => work(store, await requireSweep(store, name)));
}

export async function requireSweep(store: Store, name: string): Promise<SweepRow> {
  const sweep = await store.getSweep(name);
  if (sweep !== undefined) return sweep;
  throw unknownSweep(
    name,
    (await store.listSweeps()).map((row) => row.name),
  );
}

function unknownSweep(name: string, known: readonly string[]): UserError {
  const near = suggest(name, known);
  const hint = near === undefined ? 'see the names with `qualityflow sweep list`' : `did you mean "${near}"?`;
  return new UserError({
    message: `There is no sweep named ${JSON.stringify(name)} in this folder`,
    remedy: hint.charAt(0).toUpperCase() + hint.slice(1),
    exitCode: 2,
  });
}
