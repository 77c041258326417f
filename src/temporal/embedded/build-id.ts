import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a build consists of: code, the sandbox's Python, bundled data. Tests change nothing that runs. */
const PART = /(?<!\.test)\.(ts|js|py|jsonl)$/;

let computed: string | undefined;

/**
 * 12 hex digits over version and sources of this installation. A supervisor of another build runs other code than the command that
 * talks to it, and is replaced.
 */
export function buildId(): string {
  computed ??= currentBuildId();
  return computed;
}

/** The same as the sources are now, whatever they were when this process asked first. */
export function currentBuildId(): string {
  return computeBuildId(join(import.meta.dirname, '../..'));
}

function computeBuildId(sources: string): string {
  const hash = createHash('sha256').update(readFileSync(join(sources, '../package.json')));
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) => PART.test(file));
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(join(sources, file)));
  return hash.digest('hex').slice(0, 12);
}
