import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { create as createTar } from 'tar';
import { DEBIAN_ARGUMENTS, withDebianRoot } from './debian-base.ts';
import { ownerLabels } from './owner.ts';
import { pruneImages } from './prune-images.ts';
import { RUNNER_FILES, runnerFolder, runnerSha256 } from './runner-files.ts';
import { SandboxError } from './sandbox.ts';
import { removeContainer } from './sweeper.ts';
import { messageOf, statusOf, within } from './within.ts';

const IMAGE = 'qualityflow-sandbox';
const BASE = 'qualityflow-sandbox-base';
/** A registry that neither refuses nor answers is given up after this long without a sign of progress. */
const REGISTRY_STALL_MS = 60_000;
const IMPORT_MS = 10 * 60_000;

interface ImageOptions {
  docker: Docker;
  /** The project's state folder: a root file system lies there for the minute that it is needed. */
  home: string;
  log: (line: string) => void;
}

type Source = 'registry' | 'debian';
const SOURCES: Source[] = ['registry', 'debian'];

/**
 * The image of the sandbox, made when it is absent: Python 3.11 and numpy from a pinned registry image, or, where no registry answers,
 * from Debian packages; and our runner on top. Names carry a hash of what went in, so a changed runner is a new image (one second on the
 * cached base) and an old one is found again. Nothing has its final name before its Python has run; an interrupted set-up leaves nothing
 * that counts. `how` is a sentence for people. Throws `SandboxError` that says what is missing.
 */
export async function ensureSandboxImage(options: ImageOptions): Promise<{ imageId: string; how: string }> {
  const { docker, log } = options;
  const dockerfile = await readFile(join(runnerFolder(), 'Dockerfile'), 'utf8');
  const baseDockerfile = await readFile(join(runnerFolder(), 'base.Dockerfile'), 'utf8');
  const recipes: Record<Source, string> = { registry: baseDockerfile, debian: DEBIAN_ARGUMENTS.join('\n') };
  const runner = runnerSha256();
  const tagOf = (source: Source) => `${IMAGE}:${source}-${hashOf(runner, dockerfile, recipes[source])}`;
  for (const source of SOURCES) {
    const imageId = await idOf(docker, tagOf(source));
    if (imageId !== undefined) return { imageId, how: `already there (${tagOf(source)})` };
  }
  const base = await ensureBase(options, recipes);
  const tag = tagOf(base.source);
  log(`building ${tag}`);
  await build({
    docker,
    files: ['Dockerfile', ...RUNNER_FILES],
    options: { t: tag, buildargs: { BASE: base.tag }, labels: { 'qualityflow.runner': runner } },
  });
  const imageId = await idOf(docker, tag);
  if (imageId === undefined)
    throw new SandboxError(`Docker reported the build of ${tag} as done, but the image is not there`);
  await pruneImages({ docker, log, repository: IMAGE, current: imageId }).catch((error: unknown) =>
    log(`old images stay: ${messageOf(error)}`),
  );
  return { imageId, how: `built on ${base.how}` };
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

async function ensureBase(
  options: ImageOptions,
  recipes: Record<Source, string>,
): Promise<{ tag: string; source: Source; how: string }> {
  const { docker, log } = options;
  const nameOf = (source: Source) => `${source}-${hashOf(recipes[source])}`;
  for (const source of SOURCES) {
    const tag = `${BASE}:${nameOf(source)}`;
    if ((await idOf(docker, tag)) !== undefined) return { tag, source, how: `the cached base ${tag}` };
  }
  const failures: string[] = [];
  for (const source of SOURCES) {
    const unchecked = `unchecked-${source}-${process.pid}`;
    const image = docker.getImage(`${BASE}:${unchecked}`);
    try {
      await (source === 'registry' ? buildFromRegistry : importDebian)({ ...options, tag: unchecked });
      await checkBase({ docker, tag: `${BASE}:${unchecked}` });
      await within({ ms: 10_000, what: 'naming the base image' }, image.tag({ repo: BASE, tag: nameOf(source) }));
      const how =
        source === 'registry' ? 'python:3.11-slim-bookworm from the registry' : 'Debian bookworm by mmdebstrap';
      return { tag: `${BASE}:${nameOf(source)}`, source, how };
    } catch (error) {
      failures.push(messageOf(error));
      log(`no base image from ${source === 'registry' ? 'a registry' : 'Debian packages'}: ${messageOf(error)}`);
    } finally {
      await within({ ms: 10_000, what: 'untagging' }, image.remove({ force: true })).catch(() => undefined);
    }
  }
  throw new SandboxError(
    `the sandbox image could not be made (${failures.join('; ')}): give the Docker engine access to an image registry, or, on Debian and Ubuntu, run \`apt-get install mmdebstrap\` as root`,
  );
}

async function buildFromRegistry({ docker, log, tag }: ImageOptions & { tag: string }): Promise<void> {
  log('asking the image registry for python:3.11-slim-bookworm');
  const options = { t: `${BASE}:${tag}`, dockerfile: 'base.Dockerfile' };
  await build({ docker, files: ['base.Dockerfile'], options });
}

async function importDebian({ docker, home, log, tag }: ImageOptions & { tag: string }): Promise<void> {
  log('making a Debian root file system with mmdebstrap (about a minute)');
  await withDebianRoot({ home }, async (archive) => {
    log('importing it into Docker');
    const stream = await within(
      { ms: IMPORT_MS, what: 'importing the base image' },
      docker.importImage(createReadStream(archive), { repo: BASE, tag }),
    );
    await follow({ docker, stream, stallMs: IMPORT_MS });
  });
}

/** A base counts only when its Python starts and has what the runner and the programs need. */
async function checkBase({ docker, tag }: { docker: Docker; tag: string }): Promise<void> {
  const container = await within(
    { ms: 30_000, what: 'creating a container to check the base image' },
    docker.createContainer({
      Image: tag,
      Entrypoint: ['python3', '-c', 'import sys, ctypes, decimal, numpy; assert sys.version_info[:2] == (3, 11)'],
      Labels: ownerLabels('image-check'),
      HostConfig: { NetworkMode: 'none' },
    }),
  );
  try {
    // Asked before the start, or the default condition is met by a container that never ran.
    const ended = container.wait({ condition: 'next-exit' });
    ended.catch(() => undefined);
    await within({ ms: 30_000, what: 'starting a container to check the base image' }, container.start());
    const { StatusCode } = await within({ ms: 60_000, what: 'checking the base image' }, ended);
    if (StatusCode !== 0) throw new SandboxError(`its Python does not work (status ${StatusCode})`);
  } finally {
    await removeContainer({ docker, id: container.id }).catch(() => undefined);
  }
}

async function build(job: { docker: Docker; files: string[]; options: Docker.ImageBuildOptions }): Promise<void> {
  const { docker, files, options } = job;
  const context = Readable.from(createTar({ cwd: runnerFolder(), portable: true }, files));
  const stream = await within(
    { ms: REGISTRY_STALL_MS, what: `building ${options.t}` },
    docker.buildImage(context, { ...options, forcerm: true }),
  );
  await follow({ docker, stream, stallMs: REGISTRY_STALL_MS });
}

/** Waits for the end of a progress stream. The daemon reports errors inside it, under HTTP 200. */
async function follow(options: { docker: Docker; stream: NodeJS.ReadableStream; stallMs: number }): Promise<void> {
  const { docker, stream, stallMs } = options;
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
          if (typeof event === 'object' && event !== null && 'error' in event)
            reject(new SandboxError(String(event.error)));
        },
      );
    });
  } finally {
    clearTimeout(timer);
  }
}
