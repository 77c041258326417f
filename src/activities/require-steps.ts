import type { Store } from '../store/store.ts';
import type { RunKey } from './contract.ts';
import { permanentFailure } from './failures.ts';

/**
 * Fails as `StoreIsOlder` when the store lacks a step that its workflow has seen done: it was restored from a backup under a workflow that
 * goes on from its history, and an outcome would stand beside steps and replies that are not there.
 */
export async function requireSteps(store: Pick<Store, 'missingSteps'>, run: RunKey, steps: string[]): Promise<void> {
  const missing = await store.missingSteps(run, steps);
  if (missing.length === 0) return;
  throw permanentFailure(
    'StoreIsOlder',
    `the store has no row of ${missing.length} of ${steps.length} steps that were done, such as ${missing[0]}`,
  );
}
