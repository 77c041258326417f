import { randomUUID } from 'node:crypto';
import {
  type Client,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { counted } from '../reports/terminal.ts';
import type { SweepRow } from '../store/store.ts';
import { SWEEP_CANCEL } from '../temporal/ended-by-hand.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import { problemWorkflowId } from '../temporal/problem-id.ts';
import { WORKFLOW_TASK_TIMEOUT } from '../temporal/problem-start.ts';
import { queuesFor } from '../temporal/queues.ts';
import { StageKey, SweepIdKey, sweepAttributes, TaskIdKey } from '../temporal/search-attributes.ts';
import { summary } from '../temporal/summary.ts';

/** As long as the server's list of workflows may lag behind what runs. */
export const LIST_LAG_MS = 2000;
const NOT_FOUND = 5;

const PROBLEMS = 'ExecutionStatus="Running" AND WorkflowType="solveProblem"';
const ALONE = 'ParentWorkflowId IS NULL';

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
  return cancelWorkflow(client, sweepWorkflowId(sweep));
}

/** Asks the sweep's problems to end that run by themselves; gives the ids of those that were told. */
export async function cancelLoneProblems(client: Client, sweep: string): Promise<string[]> {
  const told: string[] = [];
  for (const { workflowId } of await runningProblems(client, sweep, { alone: true }))
    if (await cancelWorkflow(client, workflowId)) told.push(workflowId);
  return told;
}

/** False when it does not run any more. */
async function cancelWorkflow(client: Client, workflowId: string): Promise<boolean> {
  const { namespace, identity } = client.options;
  try {
    await client.workflowService.requestCancelWorkflowExecution({
      namespace,
      identity,
      workflowExecution: { workflowId },
      requestId: randomUUID(),
      // What rows and state will say of it.
      reason: SWEEP_CANCEL,
    });
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) return false;
    throw error;
  }
}

/** Names of the sweeps of which problems run that no run of theirs has started: see `runningProblems`. */
export async function sweepsWithLoneProblems(client: Client): Promise<string[]> {
  const names = new Set<string>();
  for await (const { typedSearchAttributes } of client.workflow.list({ query: `${PROBLEMS} AND ${ALONE}` }))
    names.add(typedSearchAttributes.get(SweepIdKey) ?? '');
  return [...names];
}

export interface RunningProblem {
  workflowId: string;
  taskId: string;
  stage: string;
  /** Why it waits (`Held`), as the problem itself says; undefined while it works. */
  waiting: { reason: string; until: string | undefined } | undefined;
}

/**
 * Problems that are running now, with the stage they are in; the server's list lags by up to `LIST_LAG_MS`. `alone`: only those that no run of the
 * sweep has started, and which none would end, as `sweep retry` does it.
 */
export async function runningProblems(
  client: Client,
  sweep: string,
  { alone = false }: { alone?: boolean } = {},
): Promise<RunningProblem[]> {
  // Sweep names cannot hold a quote.
  const query = `SweepId="${sweep}" AND ${PROBLEMS}${alone ? ` AND ${ALONE}` : ''}`;
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
