import type { Store } from '../store/store.ts';
import { modelQueue } from '../temporal/queues.ts';

/** Without a running sweep to say otherwise. */
const DEFAULT_REQUESTS = 20;
const REFRESH_MS = 1000;

/**
 * How many requests may be under way at once to an endpoint: the largest `concurrency.requests` of the running sweeps that use its
 * queue. Read from the store again and again, so that a new sweep needs no new worker.
 */
export async function watchRequestLimits(
  store: Store,
): Promise<{ of: (endpoint: string) => number; stop: () => void }> {
  let limits = new Map<string, number>();
  const refresh = async () => {
    const next = new Map<string, number>();
    for (const { endpoint, requests } of await store.runningLimits()) {
      const queue = modelQueue(endpoint);
      next.set(queue, Math.max(next.get(queue) ?? 0, requests));
    }
    limits = next;
  };
  // Before the first slot is given: queued work of a one-slot server must not arrive twenty at a time.
  await refresh();
  // A store that is busy or away for a moment leaves the limits as they were.
  const timer = setInterval(() => void refresh().catch(() => undefined), REFRESH_MS);
  return {
    of: (endpoint) => limits.get(modelQueue(endpoint)) ?? DEFAULT_REQUESTS,
    stop: () => clearInterval(timer),
  };
}
