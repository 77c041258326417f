import { WorkflowNotFoundError } from '@temporalio/client';
import { problemWorkflowId } from '../temporal/problem-id.ts';
import type { StoreActivities } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { requireSteps } from './require-steps.ts';
import { settledSummary } from './settled-summary.ts';
import { datasetOf, requirePlan } from './sweep-dataset.ts';

export function storeActivities(deps: Dependencies): StoreActivities {
  const { store, client } = deps;
  return {
    async loadProblem({ sweep, taskId }) {
      return (await datasetOf(deps, await requirePlan(deps, sweep))).problem(taskId);
    },

    async loadSweep({ sweep }) {
      const { planned, spec, endpointIdentity } = await requirePlan(deps, sweep);
      return {
        planned,
        benchmark: spec.benchmark,
        strategy: spec.strategy,
        model: spec.model,
        endpointIdentity,
        seed: spec.seed,
        maxWaitMs: spec.maxWaitMs,
        concurrency: spec.concurrency.problems,
      };
    },

    async listUnfinished(input) {
      const runs = await store.listUnfinished(input);
      return runs.map((run) => ({ ...run, workflowId: problemWorkflowId({ ...run, sweep: input.sweep }) }));
    },

    async isRunning({ workflowId }) {
      try {
        return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },

    async recordOutcome({ run, summary, steps = [] }) {
      await requireSteps(store, run, steps);
      const settled = await settledSummary(store, run, summary);
      await store.recordOutcome({
        ...settled,
        run,
        trail: [],
        submission: null,
        fingerprint: null,
        recordedAt: new Date().toISOString(),
      });
      return settled;
    },

    countOutcomes: ({ sweep }) => store.countOutcomes(sweep),
    async markSweep({ sweep, state }) {
      await store.setSweepState(
        sweep,
        state,
        state === 'running' ? { from: ['created', 'completed', 'cancelled', 'failed'] } : {},
      );
    },
  };
}
