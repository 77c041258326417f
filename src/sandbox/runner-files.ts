import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the Dockerfile copies into the image. */
export const RUNNER_FILES = [
  'runner.py',
  'qf_child.py',
  'qf_encoding.py',
  'qf_harden.py',
  'qf_host.py',
  'qf_scratch.py',
  'qf_supervise.py',
] as const;

/** The Python files stay where they are when the TypeScript around them is compiled: beside this file, or in the package's `src`. */
export function runnerFolder(): string {
  const beside = join(import.meta.dirname, 'runner');
  return existsSync(beside) ? beside : join(import.meta.dirname, '../../src/sandbox/runner');
}

/** Hex sha256 over names and contents of the runner's files: the part of the sandbox's fingerprint that is ours. */
export function runnerSha256(): string {
  const hash = createHash('sha256');
  for (const name of RUNNER_FILES) {
    const content = readFileSync(join(runnerFolder(), name));
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
