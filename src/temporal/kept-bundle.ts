/**
 * The workflows as bundled already: with the package, or, of a checkout, in the state folder. Bundling takes a worker two seconds of work at
 * every start, also when problems wait for it to come back.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildId, currentBuildId } from './embedded/build-id.ts';
import { writeFileAtomically } from './embedded/write-file.ts';

/** The file that an installed package brings along; undefined in a checkout. */
export function prebuiltBundle(): string | undefined {
  const path = join(import.meta.dirname, '../workflow-bundle.js');
  return import.meta.filename.endsWith('.js') && existsSync(path) ? path : undefined;
}

/** The code that sources like these were bundled to; undefined when nobody has yet, or the file is not what was written. */
export function keptBundle(folder: string): string | undefined {
  const name = keptIn(folder).find((one) => one.startsWith(`${buildId()}-`));
  if (name === undefined) return undefined;
  const code = readFileSync(join(folder, name), 'utf8');
  return nameOf(code) === name ? code : undefined;
}

/**
 * Keeps code that was bundled just now, in place of what is there, unless the sources have changed in the meantime. Where it cannot be
 * written, nothing is kept.
 */
export function keepBundle(folder: string, code: string): void {
  if (currentBuildId() !== buildId()) return;
  const name = nameOf(code);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileAtomically(join(folder, name), code);
    for (const other of keptIn(folder)) if (other !== name) rmSync(join(folder, other), { force: true });
  } catch {
    // A full disk is told where something is lost by it.
  }
}

function keptIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Tells build and content, so that a file which a crash of the machine tore is not taken. */
function nameOf(code: string): string {
  return `${buildId()}-${createHash('sha256').update(code).digest('hex').slice(0, 12)}.js`;
}
