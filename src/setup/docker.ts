/** A Docker engine: the one that runs, else one that set-up may start. */
import { spawn } from 'node:child_process';
import { accessSync, closeSync, constants, mkdirSync, openSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { connectDocker, type DockerStatus, dockerStatus } from '../sandbox/docker-engine.ts';
import { chosenRuntime } from '../sandbox/runtime.ts';
import type { Env } from '../temporal/connection.ts';
import { processStart } from '../temporal/embedded/process-table.ts';
import { writeFileAtomically } from '../temporal/embedded/write-file.ts';
import { InfrastructureError } from '../temporal/infrastructure-error.ts';
import { daemonPid, removeStalePidFiles } from './docker-daemon.ts';
import type { StepResult } from './step.ts';
import { canInstallPackages, installPackages } from './system-packages.ts';

export interface DockerFacts {
  engine: DockerStatus;
  /** The environment or Docker's own configuration names an engine, which then is the user's to start. */
  chosenByUser: boolean;
  /** Pid of a daemon of this machine. */
  daemon: number | undefined;
  canInstall: boolean;
  /** `dockerd` is installed. */
  installed: boolean;
}

export type DockerPlan = 'use' | 'explain' | 'start' | 'install';

/** There is never a second daemon: one that runs without answering is for its owner to look at. */
export function planDocker(facts: DockerFacts): DockerPlan {
  if (facts.engine.ok) return 'use';
  if (facts.chosenByUser || facts.daemon !== undefined || !facts.canInstall) return 'explain';
  return facts.installed ? 'start' : 'install';
}

export interface EnsureDockerOptions {
  home: string;
  env: Env;
  log: (line: string) => void;
  /** Asks whether what the text says may be done to the system. */
  allow: (text: string) => Promise<boolean>;
}

/** From its start until it answers, in ms: it reads all its containers and images first. */
const DAEMON_ANSWER_MS = 20_000;

export async function ensureDocker(options: EnsureDockerOptions): Promise<StepResult> {
  const { home, env, log, allow } = options;
  const facts = await dockerFacts(env);
  const plan = planDocker(facts);
  switch (plan) {
    case 'use':
      await chosenRuntime({ docker: connectDocker({ env }), env });
      return { state: 'already', did: `engine ${facts.engine.ok ? facts.engine.version : ''} runs` };
    case 'explain': {
      const version = mayBeStarting(facts) ? await answers(env, DAEMON_ANSWER_MS) : undefined;
      if (version === undefined) throw unusable(facts);
      return { state: 'already', did: `engine ${version} runs` };
    }
    case 'install':
      if (!(await allow('install the system package docker.io and start the Docker daemon'))) throw unusable(facts);
      await installPackages({ packages: ['docker.io'], log });
      break;
    case 'start':
      if (!(await allow('start the Docker daemon'))) throw unusable(facts);
      break;
  }
  // Where a service manager is allowed to, it has started the daemon with the package.
  const version =
    (await answers(env, 3000)) ??
    (daemonPid() === undefined ? await startDaemon({ home, env, log }) : await answers(env, DAEMON_ANSWER_MS));
  if (version === undefined)
    throw new InfrastructureError('The Docker daemon runs but does not answer.', 'See its log, then run this again.');
  return { state: 'done', did: `engine ${version} ${plan === 'install' ? 'installed and started' : 'started'}` };
}

async function dockerFacts(env: Env): Promise<DockerFacts> {
  return {
    engine: await engineStatus(env),
    chosenByUser: Boolean(env.DOCKER_HOST || env.DOCKER_CONTEXT),
    daemon: daemonPid(),
    canInstall: canInstallPackages(),
    installed: onPath(env, 'dockerd'),
  };
}

export async function engineStatus(env: Env): Promise<DockerStatus> {
  try {
    return await dockerStatus({ docker: connectDocker({ env }) });
  } catch (error) {
    return {
      ok: false,
      problem: error instanceof Error ? error.message : String(error),
      remedy: 'Correct it, or unset it',
    };
  }
}

/** A daemon of this machine that answers nobody yet: worth waiting for, and naming. */
export function mayBeStarting({ engine, chosenByUser, daemon }: DockerFacts): boolean {
  return !engine.ok && engine.denied !== true && !chosenByUser && daemon !== undefined;
}

/** One sentence of what is wrong, one of what to do. */
function unusable(facts: DockerFacts): InfrastructureError {
  const { engine, daemon } = facts;
  const problem = engine.ok ? 'there is no Docker engine' : engine.problem;
  const remedy = engine.ok ? 'start Docker' : engine.remedy;
  const also = mayBeStarting(facts) ? `, although a Docker daemon runs with pid ${daemon}` : '';
  return new InfrastructureError(
    `Programs run in Docker containers, and ${problem}${also}.`,
    `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`,
  );
}

async function answers(env: Env, withinMs: number): Promise<string | undefined> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const status = await engineStatus(env);
    if (status.ok) return status.version;
    if (performance.now() > deadline) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function onPath(env: Env, program: string): boolean {
  return (env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Tried in this order: where the folder for images cannot hold overlays, or Docker's own configuration names a driver, Docker is to choose.
 */
const DAEMON_ARGUMENTS = [['--storage-driver=overlay2'], []];

/** Returns the version of the engine that answers. */
async function startDaemon(options: { home: string; env: Env; log: (line: string) => void }): Promise<string> {
  const logPath = join(options.home, 'logs', 'dockerd.log');
  options.log(`Starting dockerd (log: ${logPath}) …`);
  mkdirSync(join(options.home, 'logs'), { recursive: true });
  let failure = '';
  for (const args of DAEMON_ARGUMENTS) {
    for (const path of removeStalePidFiles()) options.log(`removed ${path}, which a killed daemon left`);
    const started = await tryDaemon({ ...options, args, logPath });
    if ('version' in started) return started.version;
    failure = started.failure;
    // It may yet come up, and there is never a second one.
    if (daemonPid() !== undefined) break;
  }
  throw new InfrastructureError(`The Docker daemon could not be started: ${failure}.`, `See ${logPath}.`);
}

/** Started by hand, detached, and recorded in `<home>/dockerd.json`: only a daemon recorded there may ever be stopped by us. */
async function tryDaemon({
  home,
  env,
  args,
  logPath,
}: {
  home: string;
  env: Env;
  args: string[];
  logPath: string;
}): Promise<{ version: string } | { failure: string }> {
  const output = openSync(logPath, 'a', 0o600);
  const child = spawn('dockerd', args, { detached: true, stdio: ['ignore', output, output], cwd: '/' });
  closeSync(output);
  let failure: string | undefined;
  child.on('error', (error) => {
    failure = error.message;
  });
  child.on('exit', (code) => {
    failure ??= `it ended with status ${code}${lastWords(logPath)}`;
  });
  child.unref();
  if (child.pid !== undefined) {
    const record = { pid: child.pid, startedAt: processStart(child.pid) ?? '' };
    writeFileAtomically(join(home, 'dockerd.json'), `${JSON.stringify(record)}\n`);
  }
  const deadline = performance.now() + 60_000;
  while (failure === undefined && performance.now() < deadline) {
    const version = await answers(env, 0);
    if (version !== undefined) return { version };
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return { failure: failure ?? 'it does not answer' };
}

/** What the daemon said last: it tells there what it lacks. */
function lastWords(logPath: string): string {
  const last = readFileSync(logPath, 'utf8').trim().split('\n').at(-1);
  return last === undefined || last === '' ? '' : `: ${last.slice(0, 300)}`;
}
