/** What runs on this machine, as far as it concerns us. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** Identifies a process for ever, where a pid alone is used again; undefined when it does not run. */
export function processStart(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // The second field is a name in parentheses that may hold anything; state is field 3 and the start, in ticks since boot, 22.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Pids of the Temporal servers that have this database file open, by their command lines: two on one file corrupt it. */
export function serversOf(databasePath: string): number[] {
  return running(
    (argv) => argv.includes(`--db-filename=${databasePath}`) && argv.includes('start-dev'),
    (line) => line.includes(`--db-filename=${databasePath} `),
  );
}

/** Pids of the supervisors of this home, by their command lines; `home` is its one true path. */
export function supervisorsOf(home: string): number[] {
  return running(
    (argv) => argv.some((word, at) => SUPERVISOR.test(word) && argv[at + 1] === home),
    (line) => line.includes(`supervisor-main.ts ${home} `) || line.includes(`supervisor-main.js ${home} `),
  );
}

const SUPERVISOR = /[/]supervisor-main[.][jt]s$/;

/** `line` is for systems that show a command line only as one text. */
function running(argv: (words: string[]) => boolean, line: (text: string) => boolean): number[] {
  if (process.platform !== 'linux') {
    return execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8', maxBuffer: 64 << 20 })
      .split('\n')
      .filter(line)
      .map((text) => Number.parseInt(text, 10));
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return argv(readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0'));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Who holds a lock on this file, where the system tells (Linux); undefined when nobody does. */
export function lockHolder(path: string): number | undefined {
  try {
    const { ino } = statSync(path);
    // "1: POSIX  ADVISORY  WRITE 4711 08:01:123456 1073741824 1073742335": the fifth field is the pid, the sixth ends in the inode.
    for (const line of readFileSync('/proc/locks', 'latin1').split('\n')) {
      const fields = line.trim().split(/\s+/);
      const pid = Number(fields[4]);
      if (pid > 0 && fields[5]?.split(':')[2] === String(ino)) return pid;
    }
  } catch {
    // No such file, or another system.
  }
  return undefined;
}

/** Asks processes to end, then makes them. Resolves when none of them runs. */
export async function endProcesses(pids: readonly number[], graceMs: number): Promise<void> {
  const starts = new Map(pids.map((pid) => [pid, processStart(pid)]));
  const alive = () => pids.filter((pid) => starts.get(pid) !== undefined && processStart(pid) === starts.get(pid));
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of alive()) {
      try {
        process.kill(pid, signal);
      } catch {
        // Gone in between.
      }
    }
  };
  signalAll('SIGTERM');
  const killAt = performance.now() + graceMs;
  let killed = false;
  while (alive().length > 0) {
    if (!killed && performance.now() > killAt) {
      signalAll('SIGKILL');
      killed = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
