import type Docker from 'dockerode';
import { statusOf, within } from './within.ts';

/** Older images that stay beside the current one; they share all layers but a small one. */
const KEPT_BESIDE = 4;

/**
 * Every change of the runner leaves an image behind. The current one stays, and the newest beside it: other versions of the product may
 * still be at work. Docker refuses where a container has one in use, and that one stays too.
 */
export async function pruneImages(options: {
  docker: Docker;
  log: (line: string) => void;
  repository: string;
  /** Id of the image that stays in any case: one built from cached layers is as old as they are. */
  current: string;
  beside?: number;
}): Promise<void> {
  const { docker, log, repository, current, beside = KEPT_BESIDE } = options;
  const found = await within(
    { ms: 30_000, what: 'listing sandbox images' },
    docker.listImages({ filters: { reference: [repository] } }),
  );
  const others = found.filter(({ Id }) => Id !== current).sort((a, b) => b.Created - a.Created);
  for (const tag of others.slice(beside).flatMap(({ RepoTags }) => RepoTags ?? [])) {
    if (!tag.startsWith(`${repository}:`)) continue;
    try {
      await within({ ms: 30_000, what: `removing ${tag}` }, docker.getImage(tag).remove());
      log(`removed the old image ${tag}`);
    } catch (error) {
      if (statusOf(error) !== 409 && statusOf(error) !== 404) throw error;
    }
  }
}
