import { TerminatedFailure, TimeoutFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  continueAsNew,
  executeChild,
  ParentClosePolicy,
} from '@temporalio/workflow';
import type { PlannedRun, Queues } from '../../activities/contract.ts';
import { problemStart } from '../../temporal/problem-start.ts';
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
 * and "already started" means that somebody else's is running, so it is waited for, never counted. A problem that could not write its row
 * because it was terminated gets it from here. Nothing is open across continue-as-new.
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
    // A terminated sweep cancels its shards and can say nothing itself.
    if (CancellationScope.current().consideredCancelled)
      await CancellationScope.nonCancellable(() => store.markTerminated({ sweep }));
  }
  await Promise.all(runs);

  const last = batch.at(-1);
  if (last !== undefined && batch.length === STARTS_PER_RUN && last.position + 1 < to) {
    await continueAsNew<typeof runSweepShard>({ ...input, from: last.position + 1 });
  }

  async function solve(planned: PlannedRun): Promise<void> {
    const { position, workflowId } = planned;
    let run: PlannedRun | undefined = planned;
    while (run !== undefined) {
      const { taskId, sample, attempt } = run;
      const key = { sweep, taskId, sample, attempt };
      try {
        await executeChild<typeof solveProblem>('solveProblem', {
          ...problemStart({ workflowId, run: key, plan, queues }),
          parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
          cancellationType: 'WAIT_CANCELLATION_COMPLETED',
        });
        return;
      } catch (error) {
        // Only the shard's own cancellation ends it: a person may cancel a single problem, and the rest goes on.
        if (CancellationScope.current().consideredCancelled) throw error;
        if (error instanceof ChildWorkflowFailure) {
          if (!wroteNothing(error)) return;
          // A reset ends a run like a termination does, and another run of the same id goes on.
          await untilEnded(queues, workflowId);
          await store.recordTermination({ run: key, workflowId });
          return;
        }
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await untilEnded(queues, workflowId);
      }
      // The run that was in the way may have been cancelled with the shard of a terminated sweep: then this one is still to be done.
      [run] = await store.listUnfinished({ sweep, from: position, to: position + 1, limit: 1 });
    }
  }
}

function wroteNothing({ cause }: ChildWorkflowFailure): boolean {
  return cause instanceof TerminatedFailure || cause instanceof TimeoutFailure;
}
