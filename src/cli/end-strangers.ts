import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/**
 * Ends what Temporal still runs under a name that the store does not know, and returns how many workflows that were: those of a sweep
 * whose row went with an older store. A new sweep of this name would join them, and their spec may have been another. What has started
 * since the name was found free belongs to a command that was faster.
 */
export async function endStrangers(client: Client, sweep: string, foundFreeAt: Date): Promise<number> {
  // Sweep names cannot hold a quote.
  const query = `SweepId="${sweep}" AND ExecutionStatus="Running" AND StartTime < "${foundFreeAt.toISOString()}"`;
  let ended = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: 100 })) {
    try {
      await client.workflow.getHandle(workflowId, runId).terminate('the store does not know its sweep');
      ended += 1;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
  return ended;
}
