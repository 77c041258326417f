import type Docker from 'dockerode';
import { ownerIsAlive } from './owner.ts';
import { statusOf, within } from './within.ts';

/**
 * Removes the containers of processes of this host that have ended, also those created and never started. Containers of other hosts are
 * left to their own ends: end of stdin, or the lease. Returns how many were removed.
 */
export async function sweepLeftovers({ docker }: { docker: Docker }): Promise<number> {
  const found = await within(
    { ms: 20_000, what: 'listing containers' },
    docker.listContainers({ all: true, filters: { label: ['app=qualityflow', 'qualityflow.pid'] } }),
  );
  const dead = found.filter(({ Labels }) => ownerIsAlive(Labels) === false);
  await Promise.all(dead.map(({ Id }) => removeContainer({ docker, id: Id })));
  return dead.length;
}

/** Kills and removes; fine when it is gone or going. Returns when it is gone. */
export async function removeContainer({ docker, id }: { docker: Docker; id: string }): Promise<void> {
  const container = docker.getContainer(id);
  try {
    await within({ ms: 20_000, what: 'removing a container' }, container.remove({ force: true, v: true }));
  } catch (error) {
    const status = statusOf(error);
    if (status === 404) return;
    // 409: AutoRemove is at it already.
    if (status !== 409) throw error;
    for (let attempt = 0; attempt < 100; attempt++) {
      try {
        await within({ ms: 5_000, what: 'inspecting a container' }, container.inspect());
      } catch (gone) {
        if (statusOf(gone) === 404) return;
        throw gone;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw error;
  }
}
