import type { Store } from '../store/store.ts';
import type { OutcomeSummary, RunKey } from './contract.ts';

/** The summary with what the run really used, as the store has it: tokens of its distinct replies, and requests sent. */
export async function settledSummary(store: Store, run: RunKey, summary: OutcomeSummary): Promise<OutcomeSummary> {
  const used = await store.usage({ sweep: run.sweep, taskId: run.taskId, sample: run.sample });
  return { ...summary, tokens: used.prompt + used.completion, requests: used.sent };
}
