import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { connectClient, externalTemporal } from '../connection.ts';
import { KILL_MS } from '../drain.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { listening } from '../listening.ts';
import { raiseRetention, registerSearchAttributes } from '../namespace.ts';
import { SEARCH_ATTRIBUTES } from '../search-attributes.ts';
import type { ControlRequest, DevState } from './control.ts';
import { ManagedChild } from './managed-child.ts';
import type { Ports } from './ports.ts';
import { processStart } from './process-table.ts';
import { RotatingLog } from './rotating-log.ts';
import { type ServerStorage, serverStorage } from './server-storage.ts';
import { basicEnv, mergeWorkerEnv, temporalEnv } from './worker-env.ts';
import { writeFileAtomically } from './write-file.ts';

type ConfigureRequest = Extract<ControlRequest, { op: 'configure' }>;

const SERVER_GRACE_MS = 10_000;
const NAMESPACE = 'default';

/**
 * What a sweep's length would otherwise buy in memory. What lives in either heap of a worker (its own, its workflows') stays below 70 MB over
 * thousands of problems, but V8 lets garbage triple that; the C library keeps pools for every thread; and the server keeps every closed
 * workflow for an hour.
 */
const LEAN_HEAP = ['--max-semi-space-size=8', '--heap-growing-percent=30'];
const LEAN_MALLOC = { MALLOC_ARENA_MAX: '2' };
/** More workflows than are open at once, and their last events. */
const LEAN_CACHES = ['history.hostLevelCacheMaxSize=1000', `history.eventsHostLevelCacheMaxSizeBytes=${32 << 20}`];

export interface SupervisorOptions {
  home: string;
  /** Of the command that started this: sources may have changed since, and then both would disagree for ever. */
  buildId: string;
  ports: Ports;
  /** Scripts of the two children of ours. */
  entries: { worker: string; scripted: string };
  note: (text: string) => void;
}

/**
 * Owns the embedded Temporal server, the scripted model and the worker. Idle until the first `configure`, because what a worker may
 * know (keys) comes only from the command that wants it. The caller holds the lock of `home`.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #temporal: ManagedChild;
  readonly #scripted: ManagedChild;
  readonly #worker: ManagedChild;
  #temporalPath: string | null = null;
  #env: Record<string, string> = {};
  /** Of the server that runs or will. */
  #storage: ServerStorage = 'file';
  #scriptedUrl = '';
  #state: DevState['state'] = 'idle';
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const child = (
      name: string,
      log: string,
      rest: Pick<ConstructorParameters<typeof ManagedChild>[0], 'command' | 'ready' | 'graceMs' | 'explain'>,
    ) =>
      new ManagedChild({
        ...rest,
        name,
        log: new RotatingLog({ path: join(options.home, 'logs', log) }),
        note: options.note,
        onChange: () => this.#writeInfo(),
      });
    this.#temporal = child('The Temporal server', 'temporal.log', {
      graceMs: SERVER_GRACE_MS,
      command: async () => this.#temporalCommand(),
      ready: () => this.#temporalReady(),
      explain: (lastWords) => whyNoTemporal(lastWords, { database: databasePath(options.home), ports: options.ports }),
    });
    this.#scripted = child('The scripted model', 'scripted-model.log', {
      graceMs: 2000,
      command: async () => ({
        file: process.execPath,
        args: [options.entries.scripted, '--port', String(options.ports.scripted)],
        env: basicEnv(process.env),
      }),
      ready: async ({ firstLine }) => {
        this.#scriptedUrl = await within(20_000, firstLine);
      },
    });
    this.#worker = child('The worker', 'worker.log', {
      graceMs: KILL_MS,
      command: async () => ({
        file: process.execPath,
        args: [...LEAN_HEAP, options.entries.worker, this.#workerInput()],
        env: { ...LEAN_MALLOC, ...this.#env },
      }),
      ready: async ({ firstLine }) => {
        await within(60_000, firstLine);
      },
    });
  }

  /** One request at a time; `status` does not wait for the others. */
  async handle(request: ControlRequest): Promise<DevState> {
    switch (request.op) {
      case 'status':
        return this.info();
      case 'configure': {
        await this.#inTurn(() => this.#configure(request));
        return this.info();
      }
      case 'stop': {
        await this.stop();
        return this.info();
      }
    }
  }

  /** Drains the worker, then ends the others. Final. */
  async stop(): Promise<void> {
    this.#state = 'stopping';
    // First, and beside a `configure` that may be waiting for them: it ends when they do.
    await this.#worker.stop();
    await Promise.all([this.#scripted.stop(), this.#temporal.stop()]);
    rmSync(this.#infoPath, { force: true });
  }

  info(): DevState {
    const { ports } = this.#options;
    const external = externalTemporal(this.#env);
    const self = { pid: process.pid, startedAt: processStart(process.pid) ?? '' };
    const children = {
      supervisor: self,
      temporal: this.#temporal.info,
      scripted: this.#scripted.info,
      worker: this.#worker.info,
    };
    return {
      state: this.#state,
      buildId: this.#options.buildId,
      address: external === undefined ? `127.0.0.1:${ports.temporal}` : (external.connectionOptions.address ?? ''),
      namespace: external?.namespace ?? NAMESPACE,
      uiUrl: external === undefined ? `http://127.0.0.1:${ports.ui}` : '',
      scriptedUrl: this.#scriptedUrl,
      processes: Object.fromEntries(
        Object.entries(children).flatMap(([name, info]) => (info === undefined ? [] : [[name, info]])),
      ),
      storage: this.#storage,
      restarts: this.#temporal.restarts + this.#scripted.restarts + this.#worker.restarts,
    };
  }

  async #configure({ env, temporalPath, running, onlyWhenIdle }: ConfigureRequest): Promise<void> {
    this.#refuseWhenStopping();
    // Before everything has run once, there is nothing that a sweep could rely on.
    const first = this.#state === 'idle';
    const given = onlyWhenIdle && !first ? temporalEnv(env) : env;
    const merged = first ? { env, changed: [] } : mergeWorkerEnv({ held: this.#env, given });
    if (merged.changed.length > 0 && running.length > 0) throw otherSettings(merged.changed, running);
    if (this.#worker.wanted && (first || merged.changed.length > 0)) {
      this.#options.note(`restarting the worker for ${merged.changed.join(', ') || 'its environment'}`);
      await this.#worker.stop();
    }
    this.#refuseWhenStopping();
    const wanted = merged.env;
    this.#env = wanted;
    this.#temporalPath ??= temporalPath;
    const storage = serverStorage(wanted);
    if (storage !== this.#storage) await this.#temporal.stop();
    this.#storage = storage;
    const settings = externalTemporal(wanted);
    if (settings === undefined) {
      await this.#startAll();
    } else {
      await Promise.all([this.#temporal.stop(), this.#scripted.start()]);
      const { connection } = await connectClient(settings);
      try {
        await registerSearchAttributes(connection, settings.namespace);
      } finally {
        await connection.close();
      }
    }
    this.#refuseWhenStopping();
    await this.#worker.start();
    this.#state = 'running';
    this.#writeInfo();
  }

  /** A worker's start is mostly its own: it waits for the server only at its end. */
  async #startAll(): Promise<void> {
    const scripted = this.#scripted.start();
    const worker = scripted.then(() => {
      this.#refuseWhenStopping();
      return this.#worker.start();
    });
    try {
      await Promise.all([this.#temporal.start(), worker]);
    } catch (error) {
      // Only after that a worker may be on its way.
      await scripted.catch(() => undefined);
      await this.#worker.stop();
      throw error;
    }
  }

  #refuseWhenStopping(): void {
    if (this.#state === 'stopping')
      throw new InfrastructureError('The supervisor is stopping.', 'Try again in a moment.');
  }

  #temporalCommand() {
    const { home, ports } = this.#options;
    if (this.#temporalPath === null)
      throw new InfrastructureError('There is no Temporal server program.', 'Run `qualityflow setup`.');
    return {
      file: this.#temporalPath,
      args: [
        'server',
        'start-dev',
        // The database's place is how another supervisor recognises a server that was left behind: see `serversOf`.
        ...(this.#storage === 'file'
          ? [
              `--db-filename=${databasePath(home)}`,
              '--sqlite-pragma=journal_mode=WAL',
              '--sqlite-pragma=synchronous=NORMAL',
            ]
          : []),
        '--ip=127.0.0.1',
        `--port=${ports.temporal}`,
        `--ui-port=${ports.ui}`,
        '--log-level=warn',
        ...LEAN_CACHES.map((setting) => `--dynamic-config-value=${setting}`),
        ...SEARCH_ATTRIBUTES.map(
          ({ name, type }) => `--search-attribute=${name}=${type === 'INT' ? 'Int' : 'Keyword'}`,
        ),
      ],
      env: basicEnv(process.env),
    };
  }

  async #temporalReady(): Promise<void> {
    const settings = {
      connectionOptions: { address: `127.0.0.1:${this.#options.ports.temporal}` },
      namespace: NAMESPACE,
    };
    const deadline = performance.now() + 60_000;
    await listening(settings.connectionOptions.address, 60_000);
    for (;;) {
      try {
        const { connection } = await connectClient(settings);
        try {
          await raiseRetention(connection, NAMESPACE);
        } finally {
          await connection.close();
        }
        return;
      } catch (error) {
        if (this.#temporal.info === undefined) throw new Error('it ended', { cause: error });
        if (performance.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  #workerInput(): string {
    const { address, namespace, scriptedUrl } = this.info();
    const { home, buildId } = this.#options;
    return JSON.stringify({ home, buildId, address, namespace, scriptedUrl });
  }

  get #infoPath(): string {
    return join(this.#options.home, 'dev.json');
  }

  /** For people and tools that look; whoever wants to act asks the socket. So a full disk does not end what is watched over. */
  #writeInfo(): void {
    if (this.#state === 'stopping') return;
    try {
      writeFileAtomically(this.#infoPath, `${JSON.stringify(this.info(), null, 2)}\n`);
    } catch (error) {
      this.#options.note(`dev.json could not be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => {});
    return turn;
  }
}

/** Names alone: a value may be a key. */
function otherSettings(changed: readonly string[], running: readonly string[]): InfrastructureError {
  const sweeps = `${running.length === 1 ? 'sweep' : 'sweeps'} ${running.join(', ')}`;
  const names = changed.join(', ');
  return new InfrastructureError(
    `${names} ${changed.length === 1 ? 'is' : 'are'} set otherwise here than for the running ${sweeps}, and one worker serves all sweeps of a home.`,
    `Wait for ${running.join(', ')}, cancel by \`qualityflow sweep cancel ${running[0]}\`, or give this another QUALITYFLOW_HOME.`,
  );
}

/** What a person can do something about, of the server's own last words. */
function whyNoTemporal(
  lastWords: string,
  { database, ports }: { database: string; ports: Ports },
): InfrastructureError | undefined {
  if (/file is not a database|database disk image is malformed/.test(lastWords))
    return new InfrastructureError(
      `Temporal's database ${database} is damaged.`,
      'Move it away together with its -wal and -shm files; sweeps go on from what the store holds by `qualityflow sweep resume`.',
    );
  if (/disk is full|no space left/.test(lastWords))
    return new InfrastructureError(
      `Temporal cannot write its database ${database}: the disk is full.`,
      'Free some space there and run the command again.',
    );
  if (/address already in use|port \d+ .*(in use|not available)|can't set (frontend|ui) port/i.test(lastWords))
    return new InfrastructureError(
      `Another program has taken port ${ports.temporal} or ${ports.ui}, which Temporal had here.`,
      'Run `qualityflow down`, which frees the way for other ports, and then the command again.',
    );
  return undefined;
}

export function databasePath(home: string): string {
  return join(home, 'temporal.db');
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing heard within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
