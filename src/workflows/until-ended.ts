import { CancellationScope, getExternalWorkflowHandle, isCancellation, sleep } from '@temporalio/workflow';
import type { Queues } from '../activities/contract.ts';
import { storeActivities } from './proxies.ts';

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
/** What has ended is noticed late by at most half of the time that it took. */
const GROWTH = 1.5;

/**
 * Waits until no workflow of this id is running: on durable timers that grow, so that a long wait costs few events and no worker slot.
 * It belongs to the same sweep, though to no running parent: so a cancellation is passed on to it, and its end waited for all the same.
 */
export async function untilEnded(queues: Queues, workflowId: string): Promise<void> {
  try {
    await look(queues, workflowId);
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(async () => {
        await cancel(workflowId);
        await look(queues, workflowId);
      });
    }
    throw error;
  }
}

/** Cancels the workflow of this id that is running, if there is one, and waits for its end. */
export async function end(queues: Queues, workflowId: string): Promise<void> {
  await cancel(workflowId);
  await untilEnded(queues, workflowId);
}

async function cancel(workflowId: string): Promise<void> {
  // It may have ended meanwhile, which is all that is wanted.
  await getExternalWorkflowHandle(workflowId)
    .cancel()
    .catch(() => undefined);
}

async function look(queues: Queues, workflowId: string): Promise<void> {
  const { isRunning } = storeActivities(queues);
  for (let waitMs = FIRST_MS; await isRunning({ workflowId }); waitMs = Math.min(GROWTH * waitMs, LONGEST_MS)) {
    await sleep(waitMs, { summary: `waits for ${workflowId} to end`.slice(0, 200) });
  }
}
