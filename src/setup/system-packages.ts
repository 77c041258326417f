import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Whether this process may install Debian packages: root on Debian or a child of it. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') && isDebianLike(readOsRelease());
}

export function isDebianLike(osRelease: string): boolean {
  const ids = [...osRelease.matchAll(/^(?:ID|ID_LIKE)="?([^"\n]*)"?$/gm)].flatMap(([, value = '']) =>
    value.split(/\s+/),
  );
  return ids.includes('debian') || ids.includes('ubuntu');
}

function readOsRelease(): string {
  return existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
}

const INSTALL_TIMEOUT_MS = 15 * 60_000;

/** Rejects with apt's own last complaint. */
export async function installPackages({
  packages,
  log,
}: {
  packages: readonly string[];
  log: (line: string) => void;
}): Promise<void> {
  log(`apt-get install ${packages.join(' ')} …`);
  await apt(['update', '-qq']);
  await apt(['install', '-y', '-qq', ...packages]);
}

function apt(args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('apt-get', args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: INSTALL_TIMEOUT_MS,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output = `${output}${chunk}`.slice(-20_000);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(
            `apt-get ${args[0]}: ${output.split('\n').findLast((line) => line.startsWith('E:')) ?? `status ${code}`}`,
          ),
        );
    });
  });
}
