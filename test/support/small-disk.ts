import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

function mount(...args: string[]): boolean {
  return spawnSync('mount', args, { stdio: 'ignore' }).status === 0;
}

/** A small file system of a test's own in the place of `folder`, which can be filled and made read-only. */
export class SmallDisk {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Undefined where this user may not mount anything. */
  static at(folder: string, megabytes: number): SmallDisk | undefined {
    mkdirSync(folder, { recursive: true });
    return mount('-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'none', folder)
      ? new SmallDisk(folder)
      : undefined;
  }

  readOnly(on: boolean): void {
    if (!mount('-o', `remount,${on ? 'ro' : 'rw'}`, this.#folder))
      throw new Error(`${this.#folder} cannot be remounted`);
  }

  /** Takes all the room that is left. */
  fill(): void {
    const file = openSync(join(this.#folder, 'fill'), 'a');
    try {
      for (const size of [1 << 20, 1 << 12]) {
        try {
          for (;;) writeSync(file, Buffer.alloc(size));
        } catch {
          // No room for one more of this size.
        }
      }
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(join(this.#folder, 'fill'), { force: true });
  }

  unmount(): void {
    spawnSync('umount', ['--lazy', this.#folder], { stdio: 'ignore' });
  }
}
