import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ModelActivities, Queues, SandboxActivities, StoreActivities } from '../activities/contract.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Temporal owns retries; the client sends each attempt once. An attempt that got an answer never repeats it: the reply is stored first. */
export function modelActivities(queues: Queues, requestTimeoutMs: number) {
  return proxyActivities<Omit<ModelActivities, 'drawPrograms' | 'drawTests'>>({
    ...modelOptions(queues),
    /** Imagined Execution has two turns. */
    startToCloseTimeout: 2 * requestTimeoutMs + 30 * SECOND,
  });
}

function modelOptions(queues: Queues) {
  return {
    taskQueue: queues.model,
    heartbeatTimeout: 5 * SECOND,
    /** A cancelled problem ends when its request has really been aborted. */
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const,
    retry: {
      initialInterval: 2 * SECOND,
      backoffCoefficient: 2,
      /** An endpoint that is back is noticed this soon. */
      maximumInterval: 15 * SECOND,
      /** About a quarter of an hour of an endpoint that is down, before the problem counts as infrastructure. */
      maximumAttempts: 60,
    },
  };
}

/** As long as each of its requests, asked twice, may take; a worker that died is noticed by its heartbeats all the same. */
export function batchActivities(
  queues: Queues,
  { requestTimeoutMs, requests }: { requestTimeoutMs: number; requests: number },
) {
  return proxyActivities<Pick<ModelActivities, 'drawPrograms' | 'drawTests'>>({
    ...modelOptions(queues),
    startToCloseTimeout: 2 * requests * requestTimeoutMs + 30 * SECOND,
  });
}

export function sandboxActivities(queues: Queues) {
  return proxyActivities<SandboxActivities>({
    taskQueue: queues.sandbox,
    startToCloseTimeout: 20 * MINUTE,
    heartbeatTimeout: 3 * SECOND,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND, maximumAttempts: 12 },
  });
}

export function storeActivities(queues: Queues) {
  return proxyActivities<StoreActivities>({
    taskQueue: queues.control,
    startToCloseTimeout: MINUTE,
    heartbeatTimeout: 3 * SECOND,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND, maximumAttempts: 12 },
  });
}

/** Reading the dataset is a local activity: one event instead of three for every problem. */
export function localActivities() {
  return proxyLocalActivities<Pick<StoreActivities, 'loadProblem'>>({
    startToCloseTimeout: 30 * SECOND,
    retry: { initialInterval: 200, backoffCoefficient: 2, maximumInterval: 5 * SECOND, maximumAttempts: 5 },
  });
}
