import { renameSync, writeFileSync } from 'node:fs';

/** Readers see the old content or the new, never a part. For the owner alone. */
export function writeFileAtomically(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, path);
}
