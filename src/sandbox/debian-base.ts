import { spawn } from 'node:child_process';
import { access, constants, mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { resolve as absolute, delimiter, join } from 'node:path';
import { SandboxError } from './sandbox.ts';
import { messageOf } from './within.ts';

const LIMIT_MS = 10 * 60_000;

export const DEBIAN_ARGUMENTS = [
  '--variant=minbase',
  '--format=tar',
  '--include=python3-minimal,python3,python3-numpy',
  '--aptopt=Acquire::Languages "none"',
  '--dpkgopt=path-exclude=/usr/share/man/*',
  '--dpkgopt=path-exclude=/usr/share/doc/*',
  '--dpkgopt=path-exclude=/usr/share/locale/*',
  'bookworm',
];

/**
 * A root file system of Debian bookworm with Python 3.11 and numpy, as a tar file that exists while `use` runs; all of it lies under
 * `home`, and what a killed run left there is removed. Throws `SandboxError` when mmdebstrap (or util-linux, which starts it) is missing,
 * or it fails.
 */
export async function withDebianRoot<T>({ home }: { home: string }, use: (archive: string) => Promise<T>): Promise<T> {
  const parent = absolute(home, 'sandbox');
  const folder = join(parent, `bootstrap.${process.pid}`);
  const archive = join(folder, 'rootfs.tar');
  await removeAbandoned(parent);
  await mkdir(join(folder, 'tmp'), { recursive: true });
  try {
    await mmdebstrap({ args: [...DEBIAN_ARGUMENTS, archive], temporary: join(folder, 'tmp') });
    return await use(archive);
  } finally {
    await removeFolder(folder);
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = /^bootstrap\.(\d+)$/.exec(name)?.[1];
    // An mmdebstrap whose starter was killed may still write there; the next run tries again.
    if (pid !== undefined && !isAlive(Number(pid))) await removeFolder(join(parent, name)).catch(() => undefined);
  }
}

/** A root file system that is being made has the host's /dev, /sys and /proc mounted inside: nothing with a mount in it is removed. */
async function removeFolder(folder: string): Promise<void> {
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const real = await realpath(folder).catch(() => folder);
  const asListed = real.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
  if (!mounts.includes(` ${asListed}/`)) await rm(folder, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function requireCommands(...commands: string[]): Promise<void> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const command of commands) {
    const tries = folders.map((folder) => access(join(folder, command), constants.X_OK));
    if (!(await Promise.allSettled(tries)).some(({ status }) => status === 'fulfilled'))
      throw new SandboxError(`${command} is not installed`);
  }
}

async function mmdebstrap({ args, temporary }: { args: string[]; temporary: string }): Promise<void> {
  await requireCommands('setpriv', 'unshare', 'mmdebstrap');
  // As root it mounts in the namespace that it was started in; in one of its own the mounts go with its last process, however that ends.
  const alone = process.getuid?.() === 0 ? ['unshare', '--mount'] : [];
  // The signal reaches it also when this process is killed.
  const [command, ...rest] = ['setpriv', '--pdeathsig', 'TERM', ...alone, 'mmdebstrap', ...args] as const;
  const child = spawn(command, rest, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TMPDIR: temporary },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  const stop = () => child.kill('SIGTERM');
  process.once('exit', stop);
  const timer = setTimeout(stop, LIMIT_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('error', (error) => reject(new SandboxError(messageOf(error), error)));
      child.once('close', (code) => {
        if (code === 0) return resolve();
        const lines = errors.trim().split('\n');
        const last = lines.findLast((line) => line.startsWith('E:')) ?? lines.at(-1);
        reject(new SandboxError(`mmdebstrap ended with status ${code}: ${last ?? ''}`));
      });
    });
  } finally {
    clearTimeout(timer);
    process.removeListener('exit', stop);
  }
}
