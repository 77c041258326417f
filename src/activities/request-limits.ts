import type { Store } from '../store/store.ts';
import { modelQueue } from '../temporal/queues.ts';
import { type AdaptiveLimit, adapt, type RequestEnd, UNLIMITED } from './adaptive-limit.ts';

/** Without a running sweep to say otherwise. */
const DEFAULT_REQUESTS = 20;
const REFRESH_MS = 1000;

export interface RequestLimits {
  /** How many requests may be under way at once to an endpoint. */
  of: (endpoint: string) => number;
  /** Tells how a request that was really sent has ended. */
  report: (endpoint: string, end: RequestEnd) => void;
  stop: () => void;
}

/**
 * The largest `concurrency.requests` of the running sweeps that use an endpoint's queue, read from the store again and again, so that a
 * new sweep needs no new worker; below it, what the endpoint takes at the moment.
 */
export async function watchRequestLimits(
  store: Pick<Store, 'runningLimits'>,
  log: (line: string) => void,
): Promise<RequestLimits> {
  let configured = new Map<string, number>();
  const adaptive = new Map<string, AdaptiveLimit>();
  const refresh = async () => {
    const next = new Map<string, number>();
    for (const { endpoint, requests } of await store.runningLimits()) {
      const queue = modelQueue(endpoint);
      next.set(queue, Math.max(next.get(queue) ?? 0, requests));
    }
    configured = next;
  };
  const configuredOf = (queue: string) => Math.max(1, configured.get(queue) ?? DEFAULT_REQUESTS);
  // Before the first slot is given: queued work of a one-slot server must not arrive twenty at a time.
  await refresh();
  // A store that is busy or away for a moment leaves the limits as they were.
  const timer = setInterval(() => void refresh().catch(() => undefined), REFRESH_MS);
  return {
    of(endpoint) {
      const queue = modelQueue(endpoint);
      return Math.min(configuredOf(queue), adaptive.get(queue)?.limit ?? Number.POSITIVE_INFINITY);
    },
    report(endpoint, end) {
      const queue = modelQueue(endpoint);
      const limit = configuredOf(queue);
      const next = adapt(adaptive.get(queue) ?? UNLIMITED, { ...end, nowMs: performance.now(), configured: limit });
      adaptive.set(queue, next);
      if (next.changed) log(`${queue}: ${Math.min(limit, next.limit)} requests at once: ${next.reason}`);
    },
    stop: () => clearInterval(timer),
  };
}
