import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDocker } from '../../src/sandbox/docker-engine.ts';
import { processStart } from '../../src/temporal/embedded/process-table.ts';

/** Containers of these processes that have outlived them. */
export async function orphanedContainers(pids: ReadonlyMap<number, string>): Promise<string[]> {
  const docker = connectDocker({ env: process.env });
  const found = await docker.listContainers({ all: true, filters: { label: ['app=qualityflow'] } });
  return found
    .filter(({ Labels }) => {
      const start = pids.get(Number(Labels['qualityflow.pid']));
      return start !== undefined && processStart(Number(Labels['qualityflow.pid'])) !== start;
    })
    .map(({ Id, Labels }) => `container ${Id.slice(0, 12)} of process ${Labels['qualityflow.pid']}`);
}

/** Processes with this text in their command line. */
export function processesWith(text: string): { pid: number; args: string[] }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        return command.includes(text) ? [{ pid: Number(name), args: command.split('\0') }] : [];
      } catch {
        return [];
      }
    });
}

/** Files of half-done writes in the state folder, and everything in the processes' temporary folder. */
export function temporaryFiles({ home, temporary }: { home: string; temporary: string }): string[] {
  const below = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return [
    ...below(home)
      .filter((name) => /\.tmp$|(^|\/)wheel-|\.sock$/.test(name))
      .map((name) => join('home', name)),
    ...below(temporary).map((name) => join('tmp', name)),
  ];
}

/** What `find` still finds after it has had some seconds to vanish. */
export async function remaining(find: () => Promise<string[]> | string[], withinMs = 20_000): Promise<string[]> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await find();
    if (found.length === 0 || Date.now() > deadline) return found;
    await new Promise((wake) => setTimeout(wake, 250));
  }
}
