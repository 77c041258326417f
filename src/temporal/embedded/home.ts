import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Env } from '../connection.ts';
import { InfrastructureError } from '../infrastructure-error.ts';

/** The project's state folder: `QUALITYFLOW_HOME`, else `.qualityflow` in the working folder. Absolute; need not exist. */
export function projectHome(env: Env, cwd: string = process.cwd()): string {
  return resolve(cwd, env.QUALITYFLOW_HOME || '.qualityflow');
}

/**
 * Creates the folder for its owner alone, invisible to git, and returns its one true path: locks and processes are found by it. Writes only
 * what is not there. Throws `InfrastructureError`.
 */
export function prepareHome(home: string): string {
  try {
    mkdirSync(join(home, 'logs'), { recursive: true, mode: 0o700 });
    const ignore = join(home, '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
    return realpathSync(home);
  } catch (error) {
    throw unwritable(home, error);
  }
}

/** More than the first writes of what is started take together: each of those would fail for itself, some with nowhere left to say it. */
const ROOM_BYTES = 1 << 20;

/** Before anything is started in the folder. Throws `InfrastructureError` when it is read-only or its disk is full. */
export function requireRoom(home: string): void {
  const probe = join(home, `.room.${process.pid}.tmp`);
  try {
    writeFileSync(probe, Buffer.alloc(ROOM_BYTES));
  } catch (error) {
    throw unwritable(home, error);
  } finally {
    rmSync(probe, { force: true });
  }
}

function unwritable(home: string, error: unknown): InfrastructureError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new InfrastructureError(
      `The disk of the state folder ${home} is full.`,
      'Free some space there and run the command again.',
      error,
    );
  // Below a read-only file system, Node's own message for a new folder is that it does not exist.
  return new InfrastructureError(
    `The state folder ${home} cannot be written to.`,
    'Check its path, owner and permissions, or choose another one with QUALITYFLOW_HOME.',
    error,
  );
}

/** Where the bundled workflows are kept: see `kept-bundle.ts`. */
export function bundleFolder(home: string): string {
  return join(home, 'workflows');
}
