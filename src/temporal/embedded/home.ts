import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Env } from '../connection.ts';

/** The project's state folder: `QUALITYFLOW_HOME`, else `.qualityflow` in the working folder. Absolute; need not exist. */
export function projectHome(env: Env, cwd: string = process.cwd()): string {
  return resolve(cwd, env.QUALITYFLOW_HOME || '.qualityflow');
}

/** Creates the folder for its owner alone, invisible to git, and returns its one true path: locks and processes are found by it. */
export function prepareHome(home: string): string {
  mkdirSync(join(home, 'logs'), { recursive: true, mode: 0o700 });
  const ignore = join(home, '.gitignore');
  if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  return realpathSync(home);
}

/** Where the bundled workflows are kept: see `kept-bundle.ts`. */
export function bundleFolder(home: string): string {
  return join(home, 'workflows');
}
