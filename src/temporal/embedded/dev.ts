/** The embedded default from the command's side: start it, ask about it, stop it. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type Env, externalTemporal } from '../connection.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { buildId } from './build-id.ts';
import { askSupervisor, type DevState, FailedStart, silent, socketPath } from './control.ts';
import { prepareHome, requireRoom } from './home.ts';
import { endProcesses, lockHolder, processStart, serversOf, supervisorsOf } from './process-table.ts';
import { type ServerStorage, serverStorage } from './server-storage.ts';
import { databasePath } from './supervisor.ts';
import { takeLock } from './system-lock.ts';
import { ensureTemporalBinary } from './temporal-binary.ts';
import { basicEnv, workerEnv } from './worker-env.ts';

export interface DevInfo {
  address: string;
  namespace: string;
  /** Of the embedded Temporal UI; empty with a cluster of the environment. */
  uiUrl: string;
  /** Base URL of the scripted model. */
  scriptedUrl: string;
  /** By name: `supervisor`, `worker`, `scripted`, and `temporal` when it is ours. */
  pids: Record<string, number>;
  /** Where the embedded server keeps its histories. */
  storage: ServerStorage;
}

export interface EnsureDevOptions {
  home: string;
  /** What the worker may know is chosen from this: see `workerEnv`. */
  env: Env;
  log: (line: string) => void;
  /** Names of further variables for the worker, such as those of the configured endpoints' keys. */
  keyNames?: readonly string[] | undefined;
  /** Names of the sweeps that must not lose their worker to this environment; asked for right before it is handed over. */
  running?: (() => Promise<string[]>) | undefined;
  /** A worker that runs is good as it is: `env` is for the case that none does. */
  onlyWhenIdle?: boolean | undefined;
  /** Other scripts for the two children of ours; for tests of the supervisor itself. */
  entries?: { worker: string; scripted: string } | undefined;
}

const START_DEADLINE_MS = 120_000;
/** The worker has 20 s to drain, the server 10 s, and either may have to be killed. */
const STOP_DEADLINE_MS = 60_000;
/** How long a held lock without an answer may be that of a supervisor which is just starting, or of another `down`. */
const UNREACHABLE_MS = 5_000;

/**
 * Brings up supervisor, Temporal server, scripted model and worker, as far as they do not run, with this environment, and returns when
 * all of them serve. Any number of callers at once get one supervisor. One of another build is drained and replaced. Neither that nor
 * another environment may befall a running sweep: then it is refused. Throws `InfrastructureError`.
 */
export async function ensureDev(options: EnsureDevOptions): Promise<DevInfo> {
  const { env, log } = options;
  serverStorage(env);
  const home = prepareHome(options.home);
  const temporalPath =
    externalTemporal(env) === undefined ? (await ensureTemporalBinary({ home, env, log })).path : null;
  const deadline = performance.now() + START_DEADLINE_MS;
  const running = options.running ?? (async () => []);
  const request = {
    op: 'configure',
    env: workerEnv({ env, extra: options.keyNames }),
    temporalPath,
    onlyWhenIdle: options.onlyWhenIdle ?? false,
  } as const;
  let said = false;
  let replaced = false;
  for (;;) {
    const before = await askSupervisor(home, { op: 'status' });
    if (before?.state === 'stopping') {
      await gone(home, before);
    } else if (before !== undefined && before.buildId !== buildId() && !replaced) {
      // Once: two commands of different builds would otherwise take turns for ever.
      replaced = true;
      const sweeps = before.state === 'running' ? await running() : [];
      if (sweeps.length > 0) throw otherBuild(sweeps);
      log('The running supervisor is of another build: draining and replacing it …');
      await stopDev({ home });
    } else if (before !== undefined) {
      const state = await askSupervisor(home, { ...request, running: await running() });
      if (state !== undefined) return toDevInfo(state);
    } else {
      if (!said) log('Starting Temporal server, scripted model and worker …');
      said = true;
      await startSupervisor(home, options);
    }
    if (performance.now() > deadline) throw unanswered(home);
  }
}

/** The supervisor's word on itself; undefined when none serves this home. */
export async function devStatus({ home }: { home: string }): Promise<DevState | undefined> {
  return existsSync(home) ? askSupervisor(home, { op: 'status' }) : undefined;
}

/**
 * Drains and stops, and resolves when all is gone, with what a killed supervisor left behind. False when there was nothing. A supervisor whose
 * socket is gone is found by its command line. Throws `InfrastructureError` when somebody else holds the home.
 */
export async function stopDev({ home: folder }: { home: string }): Promise<boolean> {
  if (!existsSync(folder)) return false;
  const home = prepareHome(folder);
  const patience = performance.now() + UNREACHABLE_MS;
  let ended = 0;
  for (;;) {
    const before = await askSupervisor(home, { op: 'status' });
    if (before !== undefined) {
      await askSupervisor(home, { op: 'stop' });
      await gone(home, before);
      return true;
    }
    const lock = takeLock(join(home, 'dev.lock'));
    if (lock !== undefined) {
      try {
        return (await clearUp(home)) + ended > 0;
      } finally {
        lock.release();
      }
    }
    // Somebody may be just starting or have just stopped it.
    if (performance.now() > patience) {
      const unreachable = supervisorsOf(home);
      if (unreachable.length === 0 || ended > 0) throw heldByAnother(home);
      // They drain on this signal as they do on a word through the socket.
      await endProcesses(unreachable, STOP_DEADLINE_MS);
      ended = unreachable.length;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ends what a killed supervisor left behind; gives how many processes that were. The caller holds the lock. */
async function clearUp(home: string): Promise<number> {
  const left = serversOf(databasePath(home));
  await endProcesses(left, 5000);
  rmSync(join(home, 'dev.json'), { force: true });
  rmSync(socketPath(home), { force: true });
  return left.length;
}

function heldByAnother(home: string): InfrastructureError {
  const path = join(home, 'dev.lock');
  const pid = lockHolder(path);
  const who = pid === undefined ? 'Another process' : `The process ${pid}`;
  return new InfrastructureError(
    `${who} holds ${path}, and is no supervisor of this folder that could be stopped.`,
    pid === undefined
      ? `Find it by \`lsof ${path}\` and end it.`
      : `See what it is by \`ps -fp ${pid}\`, and end it by \`kill ${pid}\`.`,
  );
}

function toDevInfo({ address, namespace, uiUrl, scriptedUrl, processes, storage }: DevState): DevInfo {
  const pids = Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, pid]));
  return { address, namespace, uiUrl, scriptedUrl, pids, storage };
}

async function gone(home: string, { processes }: DevState): Promise<void> {
  const { supervisor } = processes;
  const deadline = performance.now() + STOP_DEADLINE_MS;
  while (supervisor !== undefined && processStart(supervisor.pid) === supervisor.startedAt) {
    if (performance.now() > deadline) throw silent(home, STOP_DEADLINE_MS);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Resolves when some supervisor answers, or this one has ended because another was faster. */
async function startSupervisor(home: string, { env, entries }: EnsureDevOptions): Promise<void> {
  const extension = extname(import.meta.filename);
  const script = (path: string) => join(import.meta.dirname, `${path}${extension}`);
  const { worker, scripted } = entries ?? {
    worker: script('../../activities/worker-main'),
    scripted: script('../../models/scripted/main'),
  };
  const crashLog = join(home, 'logs', 'supervisor-crash.log');
  requireRoom(home);
  const output = openSync(crashLog, 'w', 0o600);
  const child = spawn(process.execPath, [script('supervisor-main'), home, buildId(), worker, scripted], {
    cwd: home,
    detached: true,
    stdio: ['ignore', output, output],
    env: basicEnv(env),
  });
  closeSync(output);
  let ended = false;
  let failure: InfrastructureError | undefined;
  child.on('error', (error) => {
    ended = true;
    failure = failedStart(home, error.message);
  });
  child.on('exit', (code) => {
    ended = true;
    if (code !== 0) failure = failedStart(home, readFileSync(crashLog, 'utf8').trim().split('\n').at(-1) ?? '');
  });
  child.unref();
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!ended) {
    if ((await askSupervisor(home, { op: 'status' })) !== undefined) return;
    if (performance.now() > deadline) throw unanswered(home);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  if (failure !== undefined) throw failure;
}

/** Its last line says why, in one sentence and a remedy, unless it had no time for that. */
function failedStart(home: string, lastLine: string): InfrastructureError {
  try {
    const { message, remedy } = FailedStart.parse(JSON.parse(lastLine));
    return new InfrastructureError(message, remedy);
  } catch {
    return new InfrastructureError(
      `The supervisor could not start${lastLine === '' ? '' : `: ${lastLine}`}.`,
      `See ${join(home, 'logs', 'supervisor.log')} and supervisor-crash.log beside it.`,
    );
  }
}

/** Its environment, keys included, would go with it. */
function otherBuild(running: readonly string[]): InfrastructureError {
  return new InfrastructureError(
    `What runs ${running.length === 1 ? 'the sweep' : 'the sweeps'} ${running.join(', ')} is another build of qualityflow than this one.`,
    running.length === 1
      ? `Wait for ${running[0]}, or go on with it: \`qualityflow sweep resume ${running[0]}\` hands it over to this build where its results stay the same.`
      : `Wait for them, or stop all by \`qualityflow down\` and go on with each: \`qualityflow sweep resume ${running[0]}\`.`,
  );
}

function unanswered(home: string): InfrastructureError {
  return new InfrastructureError('The supervisor does not answer.', `See ${join(home, 'logs', 'supervisor.log')}.`);
}
