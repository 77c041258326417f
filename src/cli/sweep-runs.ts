import { randomUUID } from 'node:crypto';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { counted } from '../reports/terminal.ts';
import type { SweepRow } from '../store/store.ts';
import { SWEEP_CANCEL } from '../temporal/ended-by-hand.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import { problemWorkflowId } from '../temporal/problem-id.ts';
import { WORKFLOW_TASK_TIMEOUT } from '../temporal/problem-start.ts';
import { queuesFor } from '../temporal/queues.ts';
import { StageKey, sweepAttributes, TaskIdKey } from '../temporal/search-attributes.ts';
import { summary } from '../temporal/summary.ts';

/** How a sweep's workflow stands: `absent` when Temporal knows none (never started, or past its retention). */
export type SweepRun = 'running' | 'completed' | 'failed' | 'cancelled' | 'absent';

/** Starts `runSweep`, or joins the one that is running: two commands at once give one run. What is finished is the store's to say. */
export async function startSweep(client: Client, sweep: SweepRow): Promise<void> {
  const { name, spec } = sweep;
  const queues = queuesFor(spec.model.endpoint);
  const labels = { sweep: name, benchmark: spec.benchmark, strategy: spec.strategy.kind, model: spec.model.name };
  try {
    await client.workflow.start('runSweep', {
      workflowId: sweepWorkflowId(name),
      taskQueue: queues.control,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      typedSearchAttributes: sweepAttributes(labels),
      staticSummary: summary(`${spec.benchmark} · ${spec.strategy.kind} · ${spec.model.name}`),
      staticDetails: detailsOf(sweep),
      args: [{ sweep: name, queues }],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

export async function sweepRun(client: Client, sweep: string): Promise<SweepRun> {
  try {
    const { status } = await client.workflow.getHandle(sweepWorkflowId(sweep)).describe();
    switch (status.name) {
      case 'RUNNING':
      case 'CONTINUED_AS_NEW':
        return 'running';
      case 'COMPLETED':
        return 'completed';
      case 'CANCELLED':
      case 'TERMINATED':
        return 'cancelled';
      default:
        return 'failed';
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'absent';
    throw error;
  }
}

/** Asks the sweep to end; problems in flight record `cancelled`. False when it was not running. */
export async function cancelSweep(client: Client, sweep: string): Promise<boolean> {
  if ((await sweepRun(client, sweep)) !== 'running') return false;
  const { namespace, identity } = client.options;
  await client.workflowService.requestCancelWorkflowExecution({
    namespace,
    identity,
    workflowExecution: { workflowId: sweepWorkflowId(sweep) },
    requestId: randomUUID(),
    // What rows and state will say of it.
    reason: SWEEP_CANCEL,
  });
  return true;
}

export interface RunningProblem {
  workflowId: string;
  taskId: string;
  stage: string;
  /** Why it waits (`Held`), as the problem itself says; undefined while it works. */
  waiting: { reason: string; until: string | undefined } | undefined;
}

/** Problems that are running now, with the stage they are in; the server's list lags by up to a second or two. */
export async function runningProblems(client: Client, sweep: string): Promise<RunningProblem[]> {
  // Sweep names cannot hold a quote.
  const query = `SweepId="${sweep}" AND ExecutionStatus="Running" AND WorkflowType="solveProblem"`;
  const running: RunningProblem[] = [];
  for await (const { workflowId, typedSearchAttributes: attributes, memo } of client.workflow.list({
    query,
    pageSize: 100,
  })) {
    running.push({
      workflowId,
      taskId: attributes.get(TaskIdKey) ?? '?',
      stage: attributes.get(StageKey) ?? 'generate',
      waiting: readWaiting(memo?.waiting),
    });
  }
  return running;
}

function readWaiting(memo: unknown): RunningProblem['waiting'] {
  if (typeof memo !== 'object' || memo === null || !('reason' in memo) || typeof memo.reason !== 'string')
    return undefined;
  return { reason: memo.reason, until: 'until' in memo && typeof memo.until === 'string' ? memo.until : undefined };
}

/** Page of one problem in Temporal UI. */
export function problemPage(
  uiUrl: string,
  namespace: string,
  key: { sweep: string; taskId: string; sample: number },
): string {
  return `${uiUrl}/namespaces/${namespace}/workflows/${encodeURIComponent(problemWorkflowId(key))}`;
}

function detailsOf({ name, spec, planned, scripted, endpointIdentity }: SweepRow): string {
  const lines = [
    `Sweep **${name}**: ${counted(planned, 'run')}`,
    `* model ${spec.model.name} at ${scripted ? 'the scripted offline model: its numbers say nothing about any real one' : endpointIdentity}`,
    `* strategy ${JSON.stringify(spec.strategy)}`,
    `* \`qualityflow sweep status ${name}\` and \`qualityflow report ${name}\` show how it stands`,
  ];
  return lines.join('\n').slice(0, 4000);
}
