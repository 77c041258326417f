/**
 * The workflows as bundled already: with the package, or, of a checkout, in the state folder. Bundling takes a worker two seconds of work at
 * every start, also when problems wait for it to come back.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildId, currentBuildId } from './embedded/build-id.ts';
import { writeFileAtomically } from './embedded/write-file.ts';

/** The file that an installed package brings along; undefined in a checkout. */
export function prebuiltBundle(): string | undefined {
  const path = join(import.meta.dirname, '../workflow-bundle.js');
  return import.meta.filename.endsWith('.js') && existsSync(path) ? path : undefined;
}

/** The code that sources like these were bundled to; undefined when nobody has yet. */
export function keptBundle(folder: string): string | undefined {
  const path = join(folder, nameOf(buildId()));
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Keeps code that was bundled just now, in place of what is there, unless the sources have changed in the meantime. */
export async function keepBundle(folder: string, code: string): Promise<void> {
  if (currentBuildId() !== buildId()) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = nameOf(buildId());
  writeFileAtomically(join(folder, name), code);
  for (const other of await readdir(folder)) if (other !== name) rmSync(join(folder, other), { force: true });
}

function nameOf(build: string): string {
  return `${build}.js`;
}
