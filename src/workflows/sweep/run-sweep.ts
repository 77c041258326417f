import { TerminatedFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowFailure,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  rootCause,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { Queues } from '../../activities/contract.ts';
import { shardWorkflowId } from '../../temporal/ids.ts';
import { WORKFLOW_TASK_TIMEOUT } from '../../temporal/problem-start.ts';
import { sweepAttributes } from '../../temporal/search-attributes.ts';
import { indices, inParallel } from '../parallel.ts';
import { storeActivities } from '../proxies.ts';
import { end, untilEnded } from '../until-ended.ts';
import type { runSweepShard } from './run-sweep-shard.ts';

export interface SweepInput {
  sweep: string;
  queues: Queues;
}

/** One parent serialises its children's starts and completions; a few parents share them. */
const MAX_SHARDS = 5;
const RUNS_PER_SHARD = 100;
/** Type of the failure of a sweep that has lost a shard to a person. */
const SHARD_STOPPED = 'shard_stopped';
/** Of a reason, in the store. */
const MOST_CHARACTERS = 500;

/**
 * A sweep: starts its shards and waits for them. It never fails because a problem did; the store says what is finished, so running it
 * again, at any time, does what is left and nothing else. Returns counts by outcome. Fails, as `cancelled`, when a person has stopped a
 * shard: after the others have ended.
 */
export async function runSweep({ sweep, queues }: SweepInput): Promise<Record<string, number>> {
  const store = storeActivities(queues);
  try {
    const plan = await store.loadSweep({ sweep });
    await store.markSweep({ sweep, state: 'running' });
    const shards = Math.max(1, Math.min(MAX_SHARDS, Math.ceil(plan.planned / RUNS_PER_SHARD), plan.concurrency));
    const share = Math.ceil(plan.planned / shards);
    const stops = await inParallel(indices(shards), (shard) => {
      const from = shard * share;
      const to = Math.min(plan.planned, from + share);
      const options = {
        workflowId: shardWorkflowId(sweep, shard),
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        typedSearchAttributes: sweepAttributes({
          sweep,
          benchmark: plan.benchmark,
          strategy: plan.strategy.kind,
          model: plan.model.name,
        }),
        staticSummary: `runs ${from + 1} to ${to} of ${plan.planned}`,
        args: [{ sweep, queues, from, to, window: Math.max(1, Math.floor(plan.concurrency / shards)) }],
      } as const;
      return howItStopped(options.workflowId, () =>
        executeChild<typeof runSweepShard>('runSweepShard', { ...options, args: [...options.args] }),
      );
    });
    const stopped = stops.filter((stop) => stop !== undefined);
    if (stopped.length > 0) throw ApplicationFailure.nonRetryable(stopped.join('; '), SHARD_STOPPED);
    const counts = await store.countOutcomes({ sweep });
    await store.markSweep({ sweep, state: 'completed' });
    setCurrentDetails(
      Object.entries(counts)
        .map(([outcome, count]) => `* ${outcome}: ${count}`)
        .join('\n'),
    );
    return counts;
  } catch (error) {
    const own = CancellationScope.current().consideredCancelled && isCancellation(error);
    const byHand = error instanceof ApplicationFailure && error.type === SHARD_STOPPED;
    await CancellationScope.nonCancellable(() =>
      own
        ? store.markSweep({ sweep, state: 'cancelled' })
        : store.markSweep({
            sweep,
            state: byHand ? 'cancelled' : 'failed',
            reason: (rootCause(error) ?? String(error)).slice(0, MOST_CHARACTERS),
          }),
    );
    throw error;
  }

  /** Runs a shard; undefined when it has done its work, else who stopped it. One of before that is still running is ended first. */
  async function howItStopped(workflowId: string, run: () => Promise<void>): Promise<string | undefined> {
    for (;;) {
      try {
        await run();
        return undefined;
      } catch (error) {
        if (CancellationScope.current().consideredCancelled) throw error;
        if (error instanceof WorkflowExecutionAlreadyStartedError) {
          // It is just ending, as its sweep was terminated; or its sweep was reset, and whatever may end this one would not reach it.
          await end(queues, workflowId);
        } else {
          if (!(error instanceof ChildWorkflowFailure && wasStopped(error))) throw error;
          // A reset ends a run like a termination does, and another run of the same id goes on.
          await untilEnded(queues, workflowId);
          const byHand = await store.endedByHand({ workflowId });
          return byHand === null ? undefined : `${workflowId} was ${byHand}`;
        }
      }
    }
  }
}

function wasStopped({ cause }: ChildWorkflowFailure): boolean {
  return cause instanceof TerminatedFailure || isCancellation(cause);
}
