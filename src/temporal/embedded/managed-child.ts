import { type ChildProcess, spawn } from 'node:child_process';
import { InfrastructureError } from '../infrastructure-error.ts';
import { endProcesses, processStart } from './process-table.ts';
import type { RotatingLog } from './rotating-log.ts';

export interface ChildCommand {
  file: string;
  args: string[];
  env: Record<string, string>;
}

export interface ManagedChildOptions {
  /** For messages: "The worker …". */
  name: string;
  command: () => Promise<ChildCommand>;
  /** Resolves once the child serves; `firstLine` is the first line of its standard output. Asked anew after each start. */
  ready: (child: { pid: number; firstLine: Promise<string> }) => Promise<void>;
  log: RotatingLog;
  /** A better word on a failed start than the child's own last one. */
  explain?: ((lastWords: string) => InfrastructureError | undefined) | undefined;
  /** How long it may take over a stop, in ms. */
  graceMs: number;
  /** Called at every start, end and readiness. */
  onChange: () => void;
  note: (text: string) => void;
}

/** Ends in a row, none of which ever was ready, after which a start counts as failed; it is tried on all the same. */
const FAILURES = 3;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/** After living this long, the next end is a new story. */
const SETTLED_MS = 60_000;

/**
 * Ends the process `$1` when standard input closes, which the system does however the supervisor dies. The child itself could not
 * be relied on: it may be a program that is not ours.
 */
const WATCHDOG = `read -r _
kill -TERM "$1" 2>/dev/null || exit 0
n=0; while [ $n -lt 50 ] && kill -0 "$1" 2>/dev/null; do sleep 0.1; n=$((n + 1)); done
kill -KILL "$1" 2>/dev/null`;

/** A child process that is started again, ever more slowly, whenever it ends by itself. */
export class ManagedChild {
  readonly #options: ManagedChildOptions;
  #process: ChildProcess | undefined;
  /** Resolves when the current process has been noticed to be gone. */
  #gone: Promise<void> = Promise.resolve();
  #start = '';
  #wanted = false;
  #ready = false;
  #failures = 0;
  #restarts = 0;
  #timer: NodeJS.Timeout | undefined;
  #waiters: { resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor(options: ManagedChildOptions) {
    this.#options = options;
  }

  get info(): { pid: number; startedAt: string } | undefined {
    const pid = this.#process?.pid;
    return pid === undefined ? undefined : { pid, startedAt: this.#start };
  }

  get restarts(): number {
    return this.#restarts;
  }

  get wanted(): boolean {
    return this.#wanted;
  }

  /** Starts it unless it is there, and resolves when it is ready; rejects when it keeps ending before that. */
  async start(): Promise<void> {
    if (!this.#wanted) {
      this.#wanted = true;
      this.#failures = 0;
      void this.#launch();
    } else if (this.#failures > 0) {
      // Somebody waits: this is no time for the long pause of an earlier failure.
      clearTimeout(this.#timer);
      this.#failures = 0;
      if (this.#process === undefined) void this.#launch();
    }
    if (this.#ready) return;
    await new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    clearTimeout(this.#timer);
    this.#settle(new InfrastructureError(`${this.#options.name} was stopped.`, 'Start again.'));
    const pid = this.#process?.pid;
    if (pid !== undefined) await endProcesses([pid], this.#options.graceMs);
    await this.#gone;
  }

  async #launch(): Promise<void> {
    const { name, log, note } = this.#options;
    let command: ChildCommand;
    try {
      command = await this.#options.command();
    } catch (error) {
      this.#ended(`cannot be prepared: ${error instanceof Error ? error.message : String(error)}`, performance.now());
      return;
    }
    if (!this.#wanted || this.#process !== undefined) return;
    const startedAt = performance.now();
    const child = spawn(command.file, command.args, { env: command.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const { pid } = child;
    this.#process = child;
    const watchdog =
      pid === undefined
        ? undefined
        : spawn('sh', ['-c', WATCHDOG, 'sh', String(pid)], { stdio: ['pipe', 'ignore', 'ignore'] });
    watchdog?.on('error', (error) => note(`no watchdog for ${name}: ${error.message}`));
    watchdog?.stdin.on('error', () => {});
    const firstLine = new Promise<string>((resolve) => {
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        log.write(chunk);
        if (text.includes('\n')) return;
        text += chunk;
        if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')).trim());
      });
    });
    child.stderr.on('data', (chunk: Buffer) => log.write(chunk));

    let over = false;
    const gone = Promise.withResolvers<void>();
    this.#gone = gone.promise;
    const end = (how: string) => {
      if (over) return;
      over = true;
      gone.resolve();
      // Before its pid can be given to another process.
      watchdog?.kill('SIGKILL');
      this.#process = undefined;
      this.#ended(how, startedAt);
    };
    child.on('error', (error) => end(`cannot be started: ${error.message}`));
    child.on('exit', (code, signal) => end(signal === null ? `ended with status ${code}` : `was ended by ${signal}`));
    if (pid === undefined) return;

    this.#start = processStart(pid) ?? '';
    note(`${name} started, pid ${pid}`);
    this.#options.onChange();
    try {
      await this.#options.ready({ pid, firstLine });
      if (over) return;
      this.#ready = true;
      note(`${name} ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
      this.#settle();
    } catch (error) {
      note(`${name} is not ready: ${error instanceof Error ? error.message : String(error)}`);
      await endProcesses([pid], 2000);
    }
    this.#options.onChange();
  }

  #ended(how: string, startedAt: number): void {
    const { name, log, note } = this.#options;
    const wasReady = this.#ready;
    this.#ready = false;
    this.#options.onChange();
    if (!this.#wanted) return;
    this.#restarts += 1;
    this.#failures = wasReady && performance.now() - startedAt > SETTLED_MS ? 1 : this.#failures + 1;
    const pause = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (this.#failures - 1));
    note(`${name} ${how}; starting again in ${pause} ms`);
    if (this.#failures >= FAILURES && !wasReady) {
      const last = log.lastWords();
      const plain = new InfrastructureError(`${name} ${how}${last === '' ? '.' : `: ${last}`}`, `See ${log.path}.`);
      this.#settle(this.#options.explain?.(last) ?? plain);
    }
    this.#timer = setTimeout(() => void this.#launch(), pause);
  }

  #settle(error?: Error): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { resolve, reject } of waiters) {
      if (error === undefined) resolve();
      else reject(error);
    }
  }
}
