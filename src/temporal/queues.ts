import type { Queues } from '../activities/contract.ts';

export const CONTROL_QUEUE = 'qualityflow-control';
export const SANDBOX_QUEUE = 'qualityflow-sandbox';

/**
 * One queue an endpoint, so that each keeps its own limit. Literal base URLs of specs share one: a worker polls the queues it was
 * started with and cannot know URLs in advance, and a URL does not belong into a queue name.
 */
export function modelQueue(endpoint: string): string {
  return /^https?:\/\//i.test(endpoint) ? 'qualityflow-model-url' : `qualityflow-model-${endpoint}`;
}

/** The queues of a sweep whose spec names this endpoint. */
export function queuesFor(endpoint: string): Queues {
  return { control: CONTROL_QUEUE, model: modelQueue(endpoint), sandbox: SANDBOX_QUEUE };
}
