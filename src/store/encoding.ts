import { StoreError } from './store-error.ts';

/**
 * Text for a column that is compared (names, ids, steps): lone surrogates and NUL, which UTF-8 and Postgres cannot hold, become U+FFFD.
 * Deterministic, so a key finds what it stored; two keys that differ only there are one.
 */
export function keyText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Reads back JSON that this store wrote. */
export function fromJson<T>(text: string): T {
  try {
    const value: T = JSON.parse(text);
    return value;
  } catch (cause) {
    throw new StoreError({
      kind: 'corrupt',
      message: 'A row of the database holds unreadable JSON.',
      remedy: 'Restore the database from a backup, or delete the sweep and run it again.',
      cause,
    });
  }
}
