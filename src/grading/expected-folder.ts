import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExpectedStore } from './expected-outputs.ts';

/**
 * Outputs of canonical solutions as files of the state folder, one a task. A file begins with the sha256 of the rest: one that was cut off or changed
 * is not there. Written beside and renamed, so several processes may share the folder; a full disk only costs the time to compute again.
 */
export function expectedFolder({ home }: { home: string }): ExpectedStore {
  const folder = join(home, 'expected-outputs');
  return {
    async read(key) {
      const text = await readFile(join(folder, key), 'utf8').catch(() => undefined);
      if (text === undefined) return undefined;
      const body = text.slice(65);
      return text.slice(0, 65) === `${sha256(body)}\n` ? body : undefined;
    },
    async write(key, text) {
      const temporary = join(folder, `${key}.${process.pid}.${++written}.tmp`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(temporary, `${sha256(text)}\n${text}`, { mode: 0o600 });
        await rename(temporary, join(folder, key));
      } catch {
        await rm(temporary, { force: true }).catch(() => undefined);
      }
    },
  };
}

let written = 0;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
