import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Readers see the old content or the new, never a part. For the owner alone. A failure leaves nothing behind. */
export function writeFileAtomically(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
