import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectHome } from '../../src/temporal/embedded/home.ts';
import { onInterrupt, refuseWhenInterrupted } from '../../test/support/on-interrupt.ts';

const TIDY_MS = 5000;

/** Where references are installed and run. */
export function benchFolder(): string {
  const folder = join(projectHome(process.env), 'bench');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * Folder of the programs of a virtual environment with these pinned packages, made when it is not there. Needs Python 3.10 or newer with
 * venv, and pip's index. `dependencies: false`: the list is complete.
 */
export async function pythonWith(
  packages: readonly string[],
  note: (line: string) => void,
  { dependencies = true }: { dependencies?: boolean } = {},
): Promise<string> {
  const folder = join(benchFolder(), (packages[0] ?? '').replace('==', '-'));
  const done = join(folder, 'installed');
  if (!existsSync(done) || readFileSync(done, 'utf8') !== packages.join('\n')) {
    note(`installing ${packages.join(', ')} into ${folder}`);
    rmSync(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', ...(dependencies ? [] : ['--no-deps']), ...packages]);
    writeFileSync(done, packages.join('\n'));
  }
  return join(folder, 'bin');
}

/** Standard output of a command that must end with status 0. Whatever it has started ends with us, too. */
export function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const { cwd, env } = options;
  refuseWhenInterrupted();
  // A process group of its own.
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = once(child, 'close');
  const forget = onInterrupt(async () => {
    if (child.pid === undefined) return;
    // Python and pip tidy up after Ctrl-C.
    process.kill(-child.pid, 'SIGINT');
    await Promise.race([ended, sleep(TIDY_MS, undefined, { ref: false })]);
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of the group has ended.
    }
  });
  let output = '';
  let complaints = '';
  child.stdout.on('data', (text) => (output += String(text)));
  child.stderr.on('data', (text) => (complaints = (complaints + String(text)).slice(-4000)));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      forget();
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args[0] ?? ''} ended with ${code}: ${complaints.trim()}`));
    });
  });
}
