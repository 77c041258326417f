import {
  CancellationScope,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { Queues } from '../../activities/contract.ts';
import { shardWorkflowId } from '../../temporal/ids.ts';
import { sweepAttributes } from '../../temporal/search-attributes.ts';
import { indices, inParallel } from '../parallel.ts';
import { storeActivities } from '../proxies.ts';
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
    await inParallel(indices(shards), (shard) =>
      executeChild<typeof runSweepShard>('runSweepShard', {
        workflowId: shardWorkflowId(sweep, shard),
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        typedSearchAttributes: sweepAttributes({
          sweep,
          benchmark: plan.benchmark,
          strategy: plan.strategy.kind,
          model: plan.model.name,
        }),
        staticSummary: `runs ${shard * share + 1} to ${Math.min(plan.planned, (shard + 1) * share)} of ${plan.planned}`,
        args: [
          {
            sweep,
            queues,
            from: shard * share,
            to: Math.min(plan.planned, (shard + 1) * share),
            window: Math.max(1, Math.floor(plan.concurrency / shards)),
          },
        ],
      }),
    );
    const counts = await store.countOutcomes({ sweep });
    await store.markSweep({ sweep, state: 'completed' });
    setCurrentDetails(
      Object.entries(counts)
        .map(([outcome, count]) => `* ${outcome}: ${count}`)
        .join('\n'),
    );
    return counts;
  } catch (error) {
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => store.markSweep({ sweep, state: 'cancelled' }));
    throw error;
  }
}
