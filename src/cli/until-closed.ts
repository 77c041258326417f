import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type Context, note } from './context.ts';
import { UserError } from './user-error.ts';

const LOOK_MS = 200;
/** A cancelled sweep ends within seconds of its activities' next heartbeat; a worker that has to be started first takes longer. */
const LIMIT_MS = 120_000;

export async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  return (await running(client, workflowId)) !== undefined;
}

/** Whether a workflow still runs of which a cancellation was asked: it ends by itself, and must not be joined. */
export async function isClosing(client: Client, workflowId: string): Promise<boolean> {
  return (await running(client, workflowId))?.raw.workflowExtendedInfo?.cancelRequested === true;
}

async function running(client: Client, workflowId: string) {
  try {
    const described = await client.workflow.getHandle(workflowId).describe();
    return described.status.name === 'RUNNING' ? described : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * Waits for the end of a workflow that is being cancelled, and says so; returns at once from any other. After `limitMs` it gives up with a
 * `UserError`.
 */
export async function untilClosed(input: {
  context: Context;
  client: Client;
  workflowId: string;
  /** Who is meant, for people. */
  name: string;
  limitMs?: number;
}): Promise<void> {
  const { context, client, workflowId, name, limitMs = LIMIT_MS } = input;
  if (!(await isClosing(client, workflowId))) return;
  note(context, `${name} is still being cancelled: waiting for its end, for up to ${limitMs / 1000} s.`);
  const deadline = performance.now() + limitMs;
  while (await isClosing(client, workflowId)) {
    if (performance.now() > deadline) {
      throw new UserError({
        message: `${name} was cancelled, and has not ended within ${limitMs / 1000} s`,
        remedy: 'Look at it in Temporal UI, whose address `qualityflow dev` prints; run this again once it has ended',
        exitCode: 3,
      });
    }
    await sleep(LOOK_MS);
  }
}
