import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { connectDocker } from '../../src/sandbox/docker-engine.ts';
import { runSetup } from '../../src/setup/run-setup.ts';
import type { Env } from '../../src/temporal/connection.ts';
import { processStart } from '../../src/temporal/embedded/process-table.ts';

const Record = z.object({ pid: z.int().positive(), startedAt: z.string().min(1) });

/**
 * Pid of the Docker daemon that set-up has started for this home and that the environment leads to; undefined for every other: that one is not
 * ours to kill.
 */
export function ownDaemon({ home, env }: { home: string; env: Env }): number | undefined {
  if (env.DOCKER_HOST || env.DOCKER_CONTEXT) return undefined;
  try {
    const { pid, startedAt } = Record.parse(JSON.parse(readFileSync(join(home, 'dockerd.json'), 'utf8')));
    const named = readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'dockerd';
    return named && processStart(pid) === startedAt ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** A daemon of ours that runs nobody else's containers, or why there is none. `ours`: processes whose containers may go down with it. */
export async function daemonToKill(input: {
  home: string;
  env: Env;
  ours: ReadonlySet<number>;
}): Promise<{ pid: number } | { reason: string }> {
  const pid = ownDaemon(input);
  if (pid === undefined) return { reason: 'set-up has not started it here' };
  const running = await connectDocker({ env: input.env }).listContainers();
  const others = running.filter(({ Labels }) => !input.ours.has(Number(Labels['qualityflow.pid'])));
  return others.length === 0 ? { pid } : { reason: `it runs ${others.length} containers of others` };
}

/** Kills it, and brings it back by the product's own set-up two seconds later. */
export async function killDaemon({ home, env, pid }: { home: string; env: Env; pid: number }): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await sleep(2000);
  const said: string[] = [];
  const { ok } = await runSetup({ home, env, yes: true, only: ['docker'], log: (line) => said.push(line) });
  if (!ok) throw new Error(`the Docker daemon did not come back: ${said.join('; ')}`);
}
