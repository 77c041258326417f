import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  continueAsNew,
  executeChild,
  ParentClosePolicy,
} from '@temporalio/workflow';
import type { PlannedRun, Queues } from '../../activities/contract.ts';
import { problemWorkflowId } from '../../temporal/ids.ts';
import { problemAttributes, StageKey } from '../../temporal/search-attributes.ts';
import { storeActivities } from '../proxies.ts';
import type { solveProblem } from '../solve-problem.ts';
import { untilEnded } from '../until-ended.ts';

export interface ShardInput {
  sweep: string;
  queues: Queues;
  /** Positions `[from, to)` of the plan. */
  from: number;
  to: number;
  /** Problems open at once. */
  window: number;
}

/** Children a run starts before it drains and continues as new: about 6 events each, well below the 4,096 of the server's hint. */
const STARTS_PER_RUN = 400;
const MAX_WINDOW = 100;

/**
 * Keeps a window of problems open over its range of the plan. What is finished is the store's to say: only unfinished runs are started,
 * and "already started" means that somebody else's is running, so it is waited for, never counted. Nothing is open across continue-as-new.
 */
export async function runSweepShard(input: ShardInput): Promise<void> {
  const { sweep, queues, to } = input;
  const store = storeActivities(queues);
  const plan = await store.loadSweep({ sweep });
  const batch = await store.listUnfinished({ sweep, from: input.from, to, limit: STARTS_PER_RUN });
  const window = Math.min(input.window, MAX_WINDOW);

  let open = 0;
  const runs: Promise<void>[] = [];
  try {
    for (const run of batch) {
      await condition(() => open < window);
      open += 1;
      runs.push(
        solve(run).finally(() => {
          open -= 1;
        }),
      );
    }
  } finally {
    // A cancelled shard, too, ends only after its problems have.
    await Promise.allSettled(runs);
  }
  await Promise.all(runs);

  const last = batch.at(-1);
  if (last !== undefined && batch.length === STARTS_PER_RUN && last.position + 1 < to) {
    await continueAsNew<typeof runSweepShard>({ ...input, from: last.position + 1 });
  }

  async function solve({ taskId, sample, attempt }: PlannedRun): Promise<void> {
    const workflowId = problemWorkflowId({ sweep, taskId, sample });
    try {
      await executeChild<typeof solveProblem>('solveProblem', {
        workflowId,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        cancellationType: 'WAIT_CANCELLATION_COMPLETED',
        typedSearchAttributes: [
          ...problemAttributes({
            sweep,
            benchmark: plan.benchmark,
            strategy: plan.strategy.kind,
            model: plan.model.name,
            taskId,
          }),
          { key: StageKey, value: 'generate' },
        ],
        staticSummary: `${taskId}, sample ${sample} · ${plan.strategy.kind} · ${plan.model.name}`.slice(0, 200),
        staticDetails: [
          `Task **${taskId.slice(0, 200)}**, sample ${sample}, attempt ${attempt} of sweep **${sweep}**`,
          `* model ${plan.model.name} at ${plan.endpointIdentity}`,
          `* strategy ${JSON.stringify(plan.strategy)}`,
          `* each activity is one model request or one sandbox job: its input holds what the agent knew, its result prompt, reply, code or verdict`,
          `* the whole texts: \`qualityflow show ${sweep} ${JSON.stringify(taskId.slice(0, 200))} --full\``,
        ].join('\n'),
        args: [
          {
            run: { sweep, taskId, sample, attempt },
            benchmark: plan.benchmark,
            strategy: plan.strategy,
            model: plan.model,
            endpointIdentity: plan.endpointIdentity,
            seed: plan.seed,
            queues,
          },
        ],
      });
    } catch (error) {
      // Only the shard's own cancellation ends it: a person may cancel a single problem, and the rest goes on.
      if (CancellationScope.current().consideredCancelled) throw error;
      if (error instanceof WorkflowExecutionAlreadyStartedError) await untilEnded(queues, workflowId);
      else if (!(error instanceof ChildWorkflowFailure)) throw error;
      // A failed, terminated or timed-out problem has its row, or is `not_run`: the sweep goes on either way.
    }
  }
}
