/**
 * Workflow ids (architecture §4). Pure, so that workflows, activities and the command line all make the same id; the hash is a library's,
 * because workflow code has neither `node:crypto` nor Web Crypto.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** What a sweep or session may be called. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export function isName(text: string): boolean {
  return NAME.test(text);
}

/** SQL visibility stores 255 characters of an id; 200 leaves room for suffixes of tools. */
const MAX_ID_LENGTH = 200;
const HASH_LENGTH = 12;

export function sweepWorkflowId(sweep: string): string {
  return bounded(`sweep/${sweep}`);
}

export function shardWorkflowId(sweep: string, shard: number): string {
  return bounded(`sweep/${sweep}/shard/${shard}`);
}

export function problemWorkflowId({
  sweep,
  taskId,
  sample,
}: {
  sweep: string;
  taskId: string;
  sample: number;
}): string {
  return bounded(`sweep/${sweep}/task/${encodeTaskId(taskId)}#${sample}`);
}

/** `encodeURIComponent`, and for the lone surrogates on which that throws `%u` with four digits, which it never produces itself. */
function encodeTaskId(taskId: string): string {
  return Array.from(taskId, (char) =>
    char.isWellFormed() ? encodeURIComponent(char) : `%u${char.charCodeAt(0).toString(16)}`,
  ).join('');
}

/** Encoded ids are ASCII: characters are bytes. */
function bounded(id: string): string {
  if (id.length <= MAX_ID_LENGTH) return id;
  return `${id.slice(0, MAX_ID_LENGTH - HASH_LENGTH - 1)}~${bytesToHex(sha256(utf8ToBytes(id))).slice(0, HASH_LENGTH)}`;
}
