import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { devStatus } from '../../src/temporal/embedded/dev.ts';
import { projectHome } from '../../src/temporal/embedded/home.ts';
import { processStart } from '../../src/temporal/embedded/process-table.ts';
import { type Finished, Project } from '../support/cli.ts';
import { onInterrupt } from '../support/on-interrupt.ts';
import { DockerProxy } from './docker-proxy.ts';
import { type MiniSweep, miniSweep } from './mini-sweep.ts';
import type { ModelProcess } from './model-process.ts';
import { daemonToKill, killDaemon } from './own-daemon.ts';
import { suspend } from './suspend.ts';

/** `docker`: the engine, as far as this rig's processes see it. */
export const VICTIMS = ['worker', 'temporal', 'supervisor', 'cli', 'docker'] as const;
/**
 * Not killed but stopped for a while, and woken: `machine` is everything; `stopped-worker` is longer away than its heartbeats may be, so that its
 * attempts are given up; `one-of-two-workers` is, too, while another one makes the next attempts.
 */
export const STOPPED = ['machine', 'stopped-worker', 'one-of-two-workers'] as const;
/** `dockerd`: the daemon itself, where it is ours to kill. */
export type Victim = (typeof VICTIMS)[number] | (typeof STOPPED)[number] | 'dockerd';

/** A command under way. */
export interface Command {
  child: ChildProcess;
  finished: Promise<Finished>;
}

/** A project folder whose processes may be killed; remembers every process that it has seen, with its start. */
export class Rig {
  readonly temporary = mkdtempSync(join(tmpdir(), 'qualityflow-chaos-'));
  readonly #sockets = mkdtempSync(join(tmpdir(), 'qualityflow-docker-'));
  readonly docker: DockerProxy;
  readonly project: Project;
  readonly seen = new Map<number, string>();
  readonly #stopMs: number;
  readonly #forget: () => void;

  constructor({ stopMs = 15_000 }: { stopMs?: number | undefined } = {}) {
    this.#stopMs = stopMs;
    // Before the project's own, so after it: what runs there needs the socket until it has ended.
    this.#forget = onInterrupt(() => {
      this.docker.close();
      this.#removeFolders();
    });
    this.docker = new DockerProxy(join(this.#sockets, 'docker.sock'));
    this.project = new Project({ env: { TMPDIR: this.temporary, DOCKER_HOST: this.docker.address } });
    mkdirSync(this.project.home, { recursive: true });
  }

  get home(): string {
    return this.project.home;
  }

  /** Starts a sweep of the mini spec on a model; the command follows it to its end. */
  run(sweep: MiniSweep): Command {
    const spec = join(this.project.folder, `${sweep.name}.yaml`);
    // JSON is YAML.
    writeFileSync(spec, JSON.stringify(miniSweep(sweep)));
    return this.#start('sweep', 'run', spec, '--json');
  }

  resume(name: string): Command {
    return this.#start('sweep', 'resume', name, '--json');
  }

  /**
   * Sends SIGKILL, to a process that is just being replaced as soon as it is there; Docker vanishes for two seconds; what is stopped is woken
   * before this returns. False when there is none.
   */
  async kill(victim: Victim, { command, model }: { command: Command; model: ModelProcess }): Promise<boolean> {
    switch (victim) {
      case 'cli':
        return command.child.kill('SIGKILL');
      case 'docker':
        await this.docker.vanish(2000);
        return true;
      case 'dockerd':
        return this.#killDaemon();
      case 'machine': {
        const pids = [command.child.pid ?? 0, ...Object.values(this.processes()), model.pid];
        await suspend({ pids, withContainers: true, ms: this.#stopMs });
        return true;
      }
      case 'stopped-worker':
      case 'one-of-two-workers': {
        const pid = await this.#running('worker');
        if (pid !== undefined) await suspend({ pids: [pid], withContainers: false, ms: this.#stopMs });
        return pid !== undefined;
      }
      default: {
        const pid = await this.#running(victim);
        return pid !== undefined && process.kill(pid, 'SIGKILL');
      }
    }
  }

  /** A worker beside the supervisor's own, which is brought up first. */
  async secondWorker(): Promise<{ stop(): Promise<void> }> {
    await this.server();
    const { child, finished } = this.#start('worker');
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (text) => String(text).includes('Serving') && resolve());
      void finished.then(({ stderr }) => reject(new Error(`the second worker ended: ${stderr}`)));
    });
    return {
      stop: async () => {
        child.kill('SIGTERM');
        await finished;
      },
    };
  }

  async #killDaemon(): Promise<boolean> {
    const home = projectHome(process.env);
    this.processes();
    const daemon = await daemonToKill({ home, env: process.env, ours: new Set(this.seen.keys()) });
    if ('reason' in daemon) throw new Error(`dockerd is not killed: ${daemon.reason}`);
    await killDaemon({ home, env: process.env, pid: daemon.pid });
    return true;
  }

  async #running(name: string): Promise<number | undefined> {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const pid = this.processes()[name];
      if (pid !== undefined && processStart(pid) !== undefined) return pid;
      if (Date.now() > deadline) return undefined;
      await new Promise((wake) => setTimeout(wake, 20));
    }
  }

  /** SIGKILL to everything of the product that runs, the supervisor first; resolves when all of it is gone. */
  async killAll(command: Command): Promise<void> {
    const { supervisor, ...others } = this.processes();
    const pids = [supervisor, ...Object.values(others), command.child.pid].filter((pid) => pid !== undefined);
    const alive = pids.filter((pid) => processStart(pid) === this.seen.get(pid));
    for (const pid of alive) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Its watchdog was faster.
      }
    }
    await command.finished;
    while (alive.some((pid) => processStart(pid) === this.seen.get(pid)))
      await new Promise((wake) => setTimeout(wake, 20));
  }

  /** Pids by name, as the supervisor has written them down. */
  processes(): Record<string, number> {
    let text: string;
    try {
      text = readFileSync(join(this.home, 'dev.json'), 'utf8');
    } catch {
      return {};
    }
    const { processes }: { processes: Record<string, { pid: number }> } = JSON.parse(text);
    const pids = Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, pid]));
    for (const pid of Object.values(pids)) this.#remember(pid);
    return pids;
  }

  /** Where Temporal is. A supervisor that was killed when nothing was left to do is started again. */
  async server(): Promise<{ address: string; namespace: string }> {
    const { code, stderr } = await this.project.run('dev');
    const state = await devStatus({ home: this.home });
    if (state === undefined) throw new Error(`no supervisor runs: ${code} ${stderr}`);
    return state;
  }

  async down(): Promise<void> {
    await this.project.run('down');
    this.docker.close();
  }

  remove(): void {
    this.project.remove();
    this.#removeFolders();
    this.#forget();
  }

  #removeFolders(): void {
    for (const folder of [this.temporary, this.#sockets])
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #start(...args: string[]): Command {
    const command = this.project.start({}, ...args);
    if (command.child.pid !== undefined) this.#remember(command.child.pid);
    return command;
  }

  #remember(pid: number): void {
    const start = processStart(pid);
    if (start !== undefined) this.seen.set(pid, start);
  }
}
