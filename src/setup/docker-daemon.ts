/** The Docker daemon of this machine as the system sees it, also when it does not answer. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Where to look; for tests with a machine of their own. */
export interface DaemonPlaces {
  proc: string;
  /** By the name of the program that writes them. */
  pidFiles: readonly { program: string; path: string }[];
}

/** `/var/run` is a link to `/run` on most systems, and not on all. */
const PLACES: DaemonPlaces = {
  proc: '/proc',
  pidFiles: ['/var/run', '/run'].flatMap((run) => [
    { program: 'dockerd', path: `${run}/docker.pid` },
    { program: 'containerd', path: `${run}/docker/containerd/containerd.pid` },
  ]),
};

/** Pid of a `dockerd` that runs. One that was killed and not yet waited for by its parent, as happens in containers, does not. */
export function daemonPid({ proc }: DaemonPlaces = PLACES): number | undefined {
  return processes(proc).find((pid) => runs(proc, pid, 'dockerd'));
}

/**
 * Removes the pid files of daemons that were killed. A new daemon refuses to start while any process at all has the number in there,
 * be it a zombie or a stranger. Returns the removed paths. Only for when no daemon runs.
 */
export function removeStalePidFiles({ proc, pidFiles }: DaemonPlaces = PLACES): string[] {
  return pidFiles.flatMap(({ program, path }) => {
    const text = readOrUndefined(path);
    if (text === undefined || runs(proc, Number.parseInt(text, 10), program)) return [];
    rmSync(path, { force: true });
    return [path];
  });
}

function processes(proc: string): number[] {
  try {
    return readdirSync(proc)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // Another system than Linux: Docker runs in a machine of its own there.
    return [];
  }
}

function runs(proc: string, pid: number, program: string): boolean {
  const stat = readOrUndefined(join(proc, String(pid), 'stat'));
  if (stat === undefined) return false;
  // `pid (name) state …`, and a name may hold anything.
  const end = stat.lastIndexOf(')');
  const name = stat.slice(stat.indexOf('(') + 1, end);
  const state = stat.slice(end + 2, end + 3);
  return name === program && state !== 'Z' && state !== 'X';
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
