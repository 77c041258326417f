import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const folder = join(import.meta.dirname, '../histories');

/** Keeps a history for `replay.test.ts`, when QUALITYFLOW_RECORD_HISTORIES asks for it. */
export function recordHistory(name: string, history: Parameters<typeof historyToJSON>[0]): void {
  if (!process.env.QUALITYFLOW_RECORD_HISTORIES) return;
  mkdirSync(folder, { recursive: true });
  const text = historyToJSON(history)
    .replace(/\d+@[\w.-]+/g, 'worker')
    // Stacks name the folders of the machine.
    .replace(/\(\/[^() ]*\/(?=(?:node_modules|src|test)\/)/g, '(');
  writeFileSync(join(folder, `${name}.json`), text);
}
