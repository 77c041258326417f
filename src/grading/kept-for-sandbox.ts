import type { Sandbox } from '../sandbox/sandbox.ts';

/**
 * What was found out once in a sandbox and holds for its life, up to `bytes` in all; the oldest goes first. Finished values only:
 * a failure, or the abort of the job that happened to come first, is nobody else's.
 */
export class KeptForSandbox<Value> {
  readonly #bytes: number;
  readonly #sandboxes = new WeakMap<Sandbox, Map<string, { value: Value; bytes: number }>>();

  constructor({ bytes }: { bytes: number }) {
    this.#bytes = bytes;
  }

  get(sandbox: Sandbox, key: string): Value | undefined {
    return this.#sandboxes.get(sandbox)?.get(key)?.value;
  }

  put(sandbox: Sandbox, key: string, value: Value, bytes: number): void {
    const entries = this.#sandboxes.get(sandbox) ?? new Map<string, { value: Value; bytes: number }>();
    this.#sandboxes.set(sandbox, entries);
    entries.delete(key);
    entries.set(key, { value, bytes });
    let total = 0;
    for (const entry of entries.values()) total += entry.bytes;
    for (const [oldest, entry] of entries) {
      if (total <= this.#bytes) return;
      entries.delete(oldest);
      total -= entry.bytes;
    }
  }
}
