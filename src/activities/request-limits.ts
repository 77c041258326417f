import type { Store } from '../store/store.ts';
import { modelQueue } from '../temporal/queues.ts';
import { type AdaptiveLimit, adapt, type RequestEnd, UNLIMITED } from './adaptive-limit.ts';
import { AT_EASE, adaptToLatency, type LatencyLimit } from './latency-limit.ts';

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
 * new sweep needs no new worker; below it, what the endpoint takes at the moment, by how its requests end and how long its answers take.
 */
export async function watchRequestLimits(
  store: Pick<Store, 'runningLimits'>,
  log: (line: string) => void,
): Promise<RequestLimits> {
  let configured = new Map<string, number>();
  const byEnds = new Map<string, AdaptiveLimit>();
  const byLatency = new Map<string, LatencyLimit>();
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
  const limitOf = (queue: string) =>
    Math.min(
      configuredOf(queue),
      byEnds.get(queue)?.limit ?? Number.POSITIVE_INFINITY,
      byLatency.get(queue)?.limit ?? Number.POSITIVE_INFINITY,
    );
  return {
    of: (endpoint) => limitOf(modelQueue(endpoint)),
    report(endpoint, { kind, startedAtMs, completionTokens }) {
      const queue = modelQueue(endpoint);
      const [nowMs, limit, effective] = [performance.now(), configuredOf(queue), limitOf(queue)];
      const next = adapt(byEnds.get(queue) ?? UNLIMITED, { kind, startedAtMs, nowMs, configured: limit });
      byEnds.set(queue, next);
      const reasons = [next.reason];
      if (kind === 'answered') {
        const answer = { startedAtMs, completionTokens, nowMs, effective, configured: limit };
        const later = adaptToLatency(byLatency.get(queue) ?? AT_EASE, answer);
        byLatency.set(queue, later);
        reasons.push(later.reason);
      }
      const why = reasons.filter((reason) => reason !== '').join(', ');
      if (limitOf(queue) !== effective) log(`${queue}: ${limitOf(queue)} requests at once: ${why}`);
    },
    stop: () => clearInterval(timer),
  };
}
