import { join } from 'node:path';
import { openDatabase } from './database.ts';
import { sweepExtension } from './extend-sweep.ts';
import { ledgerTable } from './ledger.ts';
import { outcomeTable } from './outcomes.ts';
import { replyTable } from './replies.ts';
import { stepTable } from './steps.ts';
import type { Store } from './store.ts';
import { sweepTable } from './sweeps.ts';

/**
 * Opens `<home>/qualityflow.db`, making it when absent; any number of processes may have it open. Fails with a `StoreError` that says
 * what is wrong and what to do.
 */
export async function openStore({ home }: { home: string }): Promise<Store> {
  const database = await openDatabase(join(home, 'qualityflow.db'));
  return {
    ...replyTable(database),
    ...ledgerTable(database),
    ...sweepTable(database),
    ...sweepExtension(database),
    ...outcomeTable(database),
    ...stepTable(database),
    requireSameFile: async () => database.requireSameFile(),
    close: () => database.close(),
  };
}
