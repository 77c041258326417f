import type { Env } from '../connection.ts';
import { InfrastructureError } from '../infrastructure-error.ts';

/** `file`: histories outlive the server. `memory`: faster, grows with every problem, and a restarted server knows no sweep, so that only `sweep resume` goes on. */
export type ServerStorage = 'file' | 'memory';

/** Where the embedded Temporal server keeps its histories: `QUALITYFLOW_TEMPORAL`, else a file. Throws `InfrastructureError` for another word. */
export function serverStorage(env: Env): ServerStorage {
  const word = env.QUALITYFLOW_TEMPORAL || 'file';
  if (word === 'file' || word === 'memory') return word;
  throw new InfrastructureError(
    `QUALITYFLOW_TEMPORAL is ${JSON.stringify(word)}, which is no place for the embedded Temporal server to keep its histories.`,
    'Set it to file or memory, or leave it out.',
  );
}
