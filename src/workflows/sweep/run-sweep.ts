import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { Queues } from '../../activities/contract.ts';
import { shardWorkflowId } from '../../temporal/ids.ts';
import { WORKFLOW_TASK_TIMEOUT } from '../../temporal/problem-start.ts';
import { sweepAttributes } from '../../temporal/search-attributes.ts';
import { indices, inParallel } from '../parallel.ts';
import { storeActivities } from '../proxies.ts';
import { untilEnded } from '../until-ended.ts';
import type { runSweepShard } from './run-sweep-shard.ts';

export interface SweepInput {
  sweep: string;
  queues: Queues;
}

/** One parent serialises its children's starts and completions; a few parents share them. */
const MAX_SHARDS = 5;
const RUNS_PER_SHARD = 100;

/**
 * A sweep: starts its shards and waits for them. It never fails because a problem did; the store says what is finished, so running it
 * again, at any time, does what is left and nothing else. Returns counts by outcome.
 */
export async function runSweep({ sweep, queues }: SweepInput): Promise<Record<string, number>> {
  const store = storeActivities(queues);
  try {
    const plan = await store.loadSweep({ sweep });
    await store.markSweep({ sweep, state: 'running' });
    const shards = Math.max(1, Math.min(MAX_SHARDS, Math.ceil(plan.planned / RUNS_PER_SHARD), plan.concurrency));
    const share = Math.ceil(plan.planned / shards);
    await inParallel(indices(shards), (shard) => {
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
      return afterPredecessor(options.workflowId, () =>
        executeChild<typeof runSweepShard>('runSweepShard', { ...options, args: [...options.args] }),
      );
    });
    const counts = await store.countOutcomes({ sweep });
    await store.markSweep({ sweep, state: 'completed' });
    setCurrentDetails(
      Object.entries(counts)
        .map(([outcome, count]) => `* ${outcome}: ${count}`)
        .join('\n'),
    );
    return counts;
  } catch (error) {
    const state = isCancellation(error) ? 'cancelled' : 'failed';
    await CancellationScope.nonCancellable(() => store.markSweep({ sweep, state }));
    throw error;
  }

  /** A sweep that was terminated leaves shards that are still closing: they are let end first. */
  async function afterPredecessor<T>(workflowId: string, start: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await start();
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await untilEnded(queues, workflowId);
      }
    }
  }
}
