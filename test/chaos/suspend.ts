import { setTimeout as sleep } from 'node:timers/promises';
import { connectDocker } from '../../src/sandbox/docker-engine.ts';
import { onInterrupt } from '../support/on-interrupt.ts';

/**
 * Stops processes for `ms` and wakes them; with `withContainers`, the sandbox containers that belong to them stand still, too, as on a machine
 * that is suspended. Whatever happens, everything is woken.
 */
export async function suspend({
  pids,
  withContainers,
  ms,
}: {
  pids: readonly number[];
  withContainers: boolean;
  ms: number;
}): Promise<void> {
  const stopped: number[] = [];
  let containers: { unpause(): Promise<unknown> }[] = [];
  const wake = async () => {
    await Promise.allSettled(containers.map((container) => container.unpause()));
    for (const pid of stopped) process.kill(pid, 'SIGCONT');
  };
  const forget = onInterrupt(wake);
  try {
    for (const pid of pids) {
      process.kill(pid, 'SIGSTOP');
      stopped.push(pid);
    }
    if (withContainers) containers = await paused(new Set(pids));
    await sleep(ms);
  } finally {
    await wake();
    forget();
  }
}

/** One that is just coming or going cannot be paused, and is no matter. */
async function paused(pids: ReadonlySet<number>) {
  const docker = connectDocker({ env: process.env });
  const found = await docker.listContainers({ filters: { label: ['app=qualityflow'] } });
  const containers = found
    .filter(({ Labels }) => pids.has(Number(Labels['qualityflow.pid'])))
    .map(({ Id }) => docker.getContainer(Id));
  const ends = await Promise.allSettled(containers.map((container) => container.pause()));
  return containers.filter((_, index) => ends[index]?.status === 'fulfilled');
}
