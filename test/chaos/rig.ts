import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { devStatus } from '../../src/temporal/embedded/dev.ts';
import { processStart } from '../../src/temporal/embedded/process-table.ts';
import { type Finished, Project } from '../support/cli.ts';
import { DockerProxy } from './docker-proxy.ts';
import { type MiniSweep, miniSweep } from './mini-sweep.ts';

/** `docker`: the engine, as far as this rig's processes see it. */
export const VICTIMS = ['worker', 'temporal', 'supervisor', 'cli', 'docker'] as const;
export type Victim = (typeof VICTIMS)[number];

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

  constructor() {
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

  /** Sends SIGKILL (Docker vanishes for two seconds), to a process that is just being replaced as soon as it is there. False when there is none. */
  async kill(victim: Victim, command: Command): Promise<boolean> {
    if (victim === 'cli') return command.child.kill('SIGKILL');
    if (victim === 'docker') {
      await this.docker.vanish(2000);
      return true;
    }
    const deadline = Date.now() + 10_000;
    for (;;) {
      const pid = this.processes()[victim];
      if (pid !== undefined && processStart(pid) !== undefined) {
        process.kill(pid, 'SIGKILL');
        return true;
      }
      if (Date.now() > deadline) return false;
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
    for (const folder of [this.project.folder, this.temporary, this.#sockets])
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
