import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { runningProblems } from './sweep-runs.ts';

/** Signals under way at once: a sweep has some hundred problems open. */
const AT_ONCE = 20;

/**
 * Tells every running problem of a sweep to look again whether it may go on, and returns how many were told. One that is missed, because
 * the server's list lags by a second or two, looks by itself after a while.
 */
export async function releaseProblems(client: Client, sweep: string): Promise<number> {
  const problems = await runningProblems(client, sweep);
  let told = 0;
  for (let at = 0; at < problems.length; at += AT_ONCE) {
    const batch = problems.slice(at, at + AT_ONCE).map(({ workflowId }) => release(client, workflowId));
    told += (await Promise.all(batch)).filter(Boolean).length;
  }
  return told;
}

async function release(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).signal('release');
    return true;
  } catch (error) {
    // It has ended meanwhile.
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
