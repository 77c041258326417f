import { WorkflowNotFoundError } from '@temporalio/client';
import { activityEndedByHand, endedByHand, personsHand } from '../temporal/ended-by-hand.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import { problemWorkflowId } from '../temporal/problem-id.ts';
import type { OutcomeSummary, RunKey, StoreActivities } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { recordTermination } from './record-termination.ts';
import { requireSteps } from './require-steps.ts';
import { settledSummary } from './settled-summary.ts';
import { datasetOf, requirePlan } from './sweep-dataset.ts';

/** Rows at a time. */
const LISTED = 500;

export function storeActivities(deps: Dependencies): Omit<StoreActivities, 'rankPool'> {
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

    isRunning: ({ workflowId }) => statusOf(workflowId).then((status) => status === 'RUNNING'),

    endedByHand: async ({ workflowId }) => (await endedByHand(client, workflowId)) ?? null,

    async recordOutcome({ run, summary, steps = [] }) {
      await requireSteps(store, run, steps);
      // The row matters more than its words: it is written, too, when Temporal cannot be asked.
      const byHand = await whoDidIt(run, summary.outcome).catch(() => undefined);
      return record(run, { ...summary, detail: byHand ?? summary.detail });
    },

    recordTermination: (ended) => recordTermination(deps, ended),

    countOutcomes: ({ sweep }) => store.countOutcomes(sweep),
    async markSweep({ sweep, state, reason }) {
      switch (state) {
        case 'running':
          await store.setSweepState(sweep, state, { from: ['created', 'completed', 'cancelled', 'failed'] });
          return;
        case 'cancelled':
          await store.setSweepState(sweep, state, {
            reason: reason ?? (await endedByHand(client, sweepWorkflowId(sweep)).catch(() => undefined)) ?? '',
          });
          return;
        case 'completed':
          await recordLost(sweep);
          await store.setSweepState(sweep, state, { reason: reason ?? '' });
          return;
        default:
          await store.setSweepState(sweep, state, { reason: reason ?? '' });
      }
    },

    async markTerminated({ sweep }) {
      const workflowId = sweepWorkflowId(sweep);
      const status = await statusOf(workflowId);
      // One that was deleted is unknown.
      if (status !== undefined && status !== 'TERMINATED') return;
      const reason = (await endedByHand(client, workflowId)) ?? '';
      await store.setSweepState(sweep, 'cancelled', { reason, from: ['running', 'paused', 'blocked'] });
    },
  };

  async function record(run: RunKey, summary: OutcomeSummary): Promise<OutcomeSummary> {
    const settled = await settledSummary(store, run, summary);
    const recordedAt = new Date().toISOString();
    await store.recordOutcome({ ...settled, run, trail: [], submission: null, fingerprint: null, recordedAt });
    return settled;
  }

  async function whoDidIt(run: RunKey, outcome: OutcomeSummary['outcome']): Promise<string | undefined> {
    switch (outcome) {
      case 'cancelled':
        return endedByHand(client, problemWorkflowId(run));
      case 'infra':
        return activityEndedByHand(client, problemWorkflowId(run));
      default:
        return undefined;
    }
  }

  /**
   * Of a sweep whose problems have all ended, those get a row whose own a person has prevented. Others without one were done before the store was put back
   * to a backup, and are for a resume.
   */
  async function recordLost(sweep: string): Promise<void> {
    let from = 0;
    for (;;) {
      const batch = await store.listUnfinished({ sweep, from, to: Number.MAX_SAFE_INTEGER, limit: LISTED });
      for (const { taskId, sample, attempt } of batch) {
        const run = { sweep, taskId, sample, attempt };
        const workflowId = problemWorkflowId(run);
        if (attempt > 1 || (await statusOf(workflowId)) === 'RUNNING') continue;
        const detail = await personsHand(client, workflowId);
        if (detail !== undefined) await recordTermination(deps, { run, workflowId, detail });
      }
      const last = batch.at(-1);
      if (last === undefined || batch.length < LISTED) return;
      from = last.position + 1;
    }
  }

  /** Of the latest run; undefined when Temporal knows none. */
  async function statusOf(workflowId: string): Promise<string | undefined> {
    try {
      return (await client.workflow.getHandle(workflowId).describe()).status.name;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }
}
