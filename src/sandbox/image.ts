import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { create as createTar } from 'tar';
import { RUNNER_FILES, runnerFolder, runnerSha256 } from './runner-files.ts';
import { SandboxError } from './sandbox.ts';
import { messageOf, statusOf, within } from './within.ts';

/**
 * python:3.11-slim-bookworm, by digest. The same minor version as Debian bookworm's own Python and as EvalPlus's image; from 3.12 on, `sum` of floats is compensated and
 * differs in the last digits.
 */
const REGISTRY_PYTHON = 'python@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b';
const REGISTRY_BASE = `FROM ${REGISTRY_PYTHON}\nRUN pip install --no-cache-dir --only-binary=:all: numpy==1.26.4\n`;

const DEBIAN_ARGUMENTS = [
  '--variant=minbase',
  '--format=tar',
  '--include=python3-minimal,python3,python3-numpy',
  '--aptopt=Acquire::Languages "none"',
  '--dpkgopt=path-exclude=/usr/share/man/*',
  '--dpkgopt=path-exclude=/usr/share/doc/*',
  '--dpkgopt=path-exclude=/usr/share/locale/*',
  'bookworm',
];

const IMAGE = 'qualityflow-sandbox';
const BASE = 'qualityflow-sandbox-base';
/** A registry that neither refuses nor answers is given up after this long without a sign of progress. */
const STALL_MS = 20_000;
const BUILD_MS = 10 * 60_000;

export interface ImageOptions {
  docker: Docker;
  /** The project's state folder: the imported root file system lies there for the minute that it is needed. */
  home: string;
  log: (line: string) => void;
}

/**
 * The image of the sandbox, made when it is absent: Python 3.11 and numpy from a pinned registry image, or, where no registry answers,
 * from Debian packages; and our runner. Names carry a hash of what went in, so a changed runner is a new image and an old one is found
 * again. Nothing has its final name before it has run; an interrupted set-up leaves nothing that counts.
 */
export async function ensureSandboxImage(options: ImageOptions): Promise<{ imageId: string; how: string }> {
  const { docker, log } = options;
  const dockerfile = await readFile(join(runnerFolder(), 'Dockerfile'), 'utf8');
  const runner = runnerSha256();
  const wanted = hashOf(runner, dockerfile);
  for (const source of ['registry', 'debian'] as const) {
    const tag = `${IMAGE}:${source}-${hashOf(wanted, recipeOf(source))}`;
    const imageId = await idOf(docker, tag);
    if (imageId !== undefined) return { imageId, how: `already there (${tag})` };
  }
  const base = await ensureBase(options);
  const tag = `${IMAGE}:${base.source}-${hashOf(wanted, recipeOf(base.source))}`;
  log(`building ${tag}`);
  const context = createTar({ cwd: runnerFolder(), portable: true, mtime: new Date(0) }, ['Dockerfile', ...RUNNER_FILES]);
  await build({ docker, context: Readable.from(context), tag, buildargs: { BASE: base.tag }, labels: { 'qualityflow.runner': runner } });
  const imageId = await idOf(docker, tag);
  if (imageId === undefined) throw new SandboxError(`Docker reported the build of ${tag} as done, but the image is not there`);
  return { imageId, how: `built on ${base.how}` };
}

type Source = 'registry' | 'debian';

function recipeOf(source: Source): string {
  return source === 'registry' ? REGISTRY_BASE : DEBIAN_ARGUMENTS.join('\n');
}

function hashOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 12);
}

async function idOf(docker: Docker, tag: string): Promise<string | undefined> {
  try {
    return (await within({ ms: 10_000, what: `inspecting ${tag}` }, docker.getImage(tag).inspect())).Id;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

async function ensureBase(options: ImageOptions): Promise<{ tag: string; source: Source; how: string }> {
  const { docker, log } = options;
  const tagOf = (source: Source) => `${BASE}:${source}-${hashOf(recipeOf(source))}`;
  for (const source of ['registry', 'debian'] as const) {
    const tag = tagOf(source);
    if ((await idOf(docker, tag)) !== undefined) return { tag, source, how: tag };
  }
  const failures: string[] = [];
  for (const [source, make] of [['registry', pullBase], ['debian', bootstrapBase]] as const) {
    const tag = tagOf(source);
    const unchecked = `${BASE}:unchecked-${source}-${process.pid}`;
    try {
      await make({ ...options, tag: unchecked });
      await checkBase({ docker, tag: unchecked });
      await within(
        { ms: 10_000, what: `tagging ${tag}` },
        docker.getImage(unchecked).tag({ repo: BASE, tag: tag.slice(BASE.length + 1) }),
      );
      return { tag, source, how: source === 'registry' ? REGISTRY_PYTHON : 'Debian bookworm by mmdebstrap' };
    } catch (error) {
      failures.push(`${source}: ${messageOf(error)}`);
      log(`${source === 'registry' ? 'no base image from a registry' : 'no base image from Debian packages'}: ${messageOf(error)}`);
    } finally {
      await docker.getImage(unchecked).remove({ force: true }).catch(() => undefined);
    }
  }
  throw new SandboxError(
    `the sandbox image could not be made (${failures.join('; ')}): give the Docker engine access to an image registry, or on Debian and Ubuntu run \`apt-get install mmdebstrap\` as root`,
  );
}

async function pullBase({ docker, log, tag }: ImageOptions & { tag: string }): Promise<void> {
  log(`pulling ${REGISTRY_PYTHON}`);
  const stop = new AbortController();
  const request = docker.pull(REGISTRY_PYTHON, { abortSignal: stop.signal });
  try {
    await follow({ docker, stream: await within({ ms: STALL_MS, what: 'the image registry' }, request), stallMs: STALL_MS * 3 });
  } catch (error) {
    stop.abort();
    request.catch(() => undefined);
    throw error;
  }
  log('adding numpy');
  await build({ docker, context: tarOf('Dockerfile', REGISTRY_BASE), tag, buildargs: {}, labels: {} });
}

/** A tar archive of one small file; the `tar` package archives what lies on disk only. */
function tarOf(name: string, text: string): Readable {
  const body = Buffer.from(text);
  const header = Buffer.alloc(512);
  const field = (offset: number, value: string) => header.write(value, offset, 'latin1');
  field(0, name);
  field(100, '0000644\0');
  field(108, '0000000\0');
  field(116, '0000000\0');
  field(124, `${body.length.toString(8).padStart(11, '0')}\0`);
  field(136, '00000000000\0');
  field(148, ' '.repeat(8));
  field(156, '0');
  field(257, 'ustar\0' + '00');
  const sum = header.reduce((total, byte) => total + byte, 0);
  field(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  const padding = Buffer.alloc((512 - (body.length % 512)) % 512);
  return Readable.from([Buffer.concat([header, body, padding, Buffer.alloc(1024)])]);
}

async function bootstrapBase({ docker, home, log, tag }: ImageOptions & { tag: string }): Promise<void> {
  const folder = join(home, 'sandbox');
  const unfinished = join(folder, `rootfs.${process.pid}.partial`);
  const archive = join(folder, `rootfs.${process.pid}.tar`);
  await mkdir(folder, { recursive: true });
  try {
    log('no image registry: making a Debian root file system with mmdebstrap (about a minute)');
    await mmdebstrap([...DEBIAN_ARGUMENTS, unfinished]);
    await rename(unfinished, archive);
    log('importing it into Docker');
    const stream = await within(
      { ms: BUILD_MS, what: 'importing the base image' },
      docker.importImage(createReadStream(archive), { repo: BASE, tag: tag.slice(BASE.length + 1) }),
    );
    await follow({ docker, stream, stallMs: BUILD_MS });
  } finally {
    await rm(unfinished, { force: true });
    await rm(archive, { force: true });
  }
}

async function mmdebstrap(args: string[]): Promise<void> {
  const child: ChildProcess = spawn('mmdebstrap', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  const stop = () => child.kill('SIGTERM');
  process.once('exit', stop);
  const timer = setTimeout(stop, BUILD_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(new SandboxError(error.code === 'ENOENT' ? 'mmdebstrap is not installed' : messageOf(error), error)),
      );
      child.once('close', (code) => {
        if (code === 0) return resolve();
        const last = errors.split('\n').filter((line) => line.startsWith('E:')).at(-1) ?? errors.trim().split('\n').at(-1);
        reject(new SandboxError(`mmdebstrap ended with status ${code}: ${last ?? ''}`));
      });
    });
  } finally {
    clearTimeout(timer);
    process.removeListener('exit', stop);
  }
}

/** A base counts only when its Python starts and has what the runner and the programs need. */
async function checkBase({ docker, tag }: { docker: Docker; tag: string }): Promise<void> {
  const container = await within(
    { ms: 30_000, what: 'creating a container to check the base image' },
    docker.createContainer({
      Image: tag,
      Entrypoint: ['python3', '-c', 'import sys, ctypes, decimal, numpy; assert sys.version_info[:2] == (3, 11)'],
      Labels: { app: 'qualityflow' },
      HostConfig: { NetworkMode: 'none' },
    }),
  );
  try {
    const ended = container.wait({ condition: 'next-exit' });
    ended.catch(() => undefined);
    await within({ ms: 30_000, what: 'starting a container to check the base image' }, container.start());
    const { StatusCode } = await within({ ms: 60_000, what: 'checking the base image' }, ended);
    if (StatusCode !== 0) throw new SandboxError(`its Python does not work (status ${StatusCode})`);
  } finally {
    await container.remove({ force: true }).catch(() => undefined);
  }
}

async function build(options: {
  docker: Docker;
  context: NodeJS.ReadableStream;
  tag: string;
  buildargs: Record<string, string>;
  labels: Record<string, string>;
}): Promise<void> {
  const { docker, context, tag, buildargs, labels } = options;
  const stream = await within(
    { ms: 60_000, what: `building ${tag}` },
    docker.buildImage(context, { t: tag, buildargs, labels, forcerm: true }),
  );
  await follow({ docker, stream, stallMs: 5 * 60_000 });
}

/** Waits for the end of a progress stream. The daemon reports errors inside it, under HTTP 200. */
async function follow({ docker, stream, stallMs }: { docker: Docker; stream: NodeJS.ReadableStream; stallMs: number }): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const awaitProgress = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
          reject(new SandboxError(`no progress for ${stallMs / 1000} s`));
        }, stallMs);
      };
      awaitProgress();
      docker.modem.followProgress(
        stream,
        (error) => (error === null ? resolve() : reject(new SandboxError(messageOf(error), error))),
        (event: unknown) => {
          awaitProgress();
          if (typeof event === 'object' && event !== null && 'error' in event) reject(new SandboxError(String(event.error)));
        },
      );
    });
  } finally {
    clearTimeout(timer);
  }
}
