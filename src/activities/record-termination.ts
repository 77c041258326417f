import type { Client } from '@temporalio/client';
import type { Store } from '../store/store.ts';
import { personsHand } from '../temporal/ended-by-hand.ts';
import type { RunKey } from './contract.ts';
import { settledSummary } from './settled-summary.ts';

/**
 * Writes the row of a run whose workflow was ended before it could: `cancelled`, with who ended it as far as Temporal knows. Does nothing when this
 * attempt, or a later one, has a row.
 */
export async function recordTermination(
  { store, client }: { store: Store; client: Client },
  { run, workflowId, detail: known }: { run: RunKey; workflowId: string; detail?: string | undefined },
): Promise<void> {
  const row = await store.getOutcome(run);
  if (row !== undefined && row.run.attempt >= run.attempt) return;
  const detail = known ?? (await personsHand(client, workflowId)) ?? 'its workflow ended without an outcome';
  const summary = { outcome: 'cancelled', detail, finalStep: 'nothing', tokens: 0, requests: 0 } as const;
  const settled = await settledSummary(store, run, summary);
  const recordedAt = new Date().toISOString();
  await store.recordOutcome({ ...settled, run, trail: [], submission: null, fingerprint: null, recordedAt });
}
