import { sleep } from '@temporalio/workflow';
import type { Queues } from '../activities/contract.ts';
import { storeActivities } from './proxies.ts';

const FIRST_MS = 500;
const LONGEST_MS = 60_000;

/** Waits until no workflow of this id is running: on durable timers that grow, so that a long wait costs few events and no worker slot. */
export async function untilEnded(queues: Queues, workflowId: string): Promise<void> {
  const { isRunning } = storeActivities(queues);
  for (let waitMs = FIRST_MS; await isRunning({ workflowId }); waitMs = Math.min(2 * waitMs, LONGEST_MS)) {
    await sleep(waitMs, { summary: `waits for ${workflowId} to end`.slice(0, 200) });
  }
}
