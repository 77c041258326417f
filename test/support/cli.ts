import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onInterrupt, refuseWhenInterrupted } from './on-interrupt.ts';
import { temporalBinary } from './temporal.ts';

const bin = join(import.meta.dirname, '../../bin/qualityflow.mjs');

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

/** A project folder of a test's own, with its own state, server and worker; `close` stops what runs in it and removes it. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'qualityflow-'));
  readonly home = join(this.folder, '.qualityflow');
  readonly #env: NodeJS.ProcessEnv;
  readonly #command: string;
  readonly #uid: number | undefined;
  readonly #running = new Set<ChildProcess>();
  readonly #forget: () => void;

  /** `uid`: the user who runs the commands. */
  constructor({ env = {}, command = bin, uid }: { env?: NodeJS.ProcessEnv; command?: string; uid?: number } = {}) {
    this.#forget = onInterrupt(() => this.#abandon());
    const path = join(this.folder, 'bin');
    mkdirSync(path);
    symlinkSync(temporalBinary(), join(path, 'temporal'));
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(OPENAI|QUALITYFLOW|TEMPORAL|NODE_TEST)_?/.test(name),
    );
    this.#env = {
      ...Object.fromEntries(inherited),
      CI: 'true',
      PATH: `${path}:${process.env.PATH ?? ''}`,
      QUALITYFLOW_HOME: this.home,
      ...env,
    };
    this.#command = command;
    this.#uid = uid;
    if (uid !== undefined) chownSync(this.folder, uid, uid);
  }

  run(...args: string[]): Promise<Finished> {
    return this.runWith({}, ...args);
  }

  runWith(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Finished> {
    return this.start(env, ...args).finished;
  }

  /** The same with the process itself, for tests that kill it. */
  start(env: NodeJS.ProcessEnv, ...args: string[]): { child: ChildProcess; finished: Promise<Finished> } {
    refuseWhenInterrupted();
    return this.#start(env, ...args);
  }

  #start(env: NodeJS.ProcessEnv, ...args: string[]): { child: ChildProcess; finished: Promise<Finished> } {
    const child = spawn(process.execPath, [this.#command, ...args], {
      cwd: this.folder,
      env: { ...this.#env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(this.#uid === undefined ? {} : { uid: this.#uid, gid: this.#uid }),
    });
    this.#running.add(child);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const finished = new Promise<Finished>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => {
        this.#running.delete(child);
        resolve({ code: code ?? -1, stdout, stderr });
      });
    });
    return { child, finished };
  }

  /** The parsed output of a command that must succeed. */
  async json(...args: string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  async close(): Promise<void> {
    await this.run('down');
    this.remove();
  }

  /** `close` while commands are under way. */
  async #abandon(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL');
    await this.#start({}, 'down').finished;
    this.remove();
  }

  /** The folder of one in which nothing runs any more. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
    this.#forget();
  }
}
