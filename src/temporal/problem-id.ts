import { createHash } from 'node:crypto';

/** SQL visibility stores 255 characters of an id; 200 leaves room for suffixes of tools. */
const MAX_ID_LENGTH = 200;
const HASH_LENGTH = 12;

/**
 * Workflow id of one planned run (architecture §4): task ids come from datasets and may hold anything, at any length. Workflow code has no
 * hash function: it gets these ids from `listUnfinished`.
 */
export function problemWorkflowId({
  sweep,
  taskId,
  sample,
}: {
  sweep: string;
  taskId: string;
  sample: number;
}): string {
  const id = `sweep/${sweep}/task/${encodeTaskId(taskId)}#${sample}`;
  // Encoded ids are ASCII: characters are bytes.
  if (id.length <= MAX_ID_LENGTH) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH);
  return `${id.slice(0, MAX_ID_LENGTH - HASH_LENGTH - 1)}~${hash}`;
}

/** `encodeURIComponent`, and for the lone surrogates on which that throws `%u` with four digits, which it never produces itself. */
function encodeTaskId(taskId: string): string {
  return Array.from(taskId, (char) =>
    char.isWellFormed() ? encodeURIComponent(char) : `%u${char.charCodeAt(0).toString(16)}`,
  ).join('');
}
