import { ProblemFileError } from './problem-file-error.ts';
import { canonicalTaskId } from './task-id.ts';

export interface TaskSelection {
  benchmark: { name: string; taskIds: readonly string[] };
  /** Ids as people write them; without it the whole benchmark. Named twice counts once. */
  tasks?: readonly string[] | undefined;
  /** Seed of a shuffle before the limit: a whole number from 0. */
  shuffle?: number | undefined;
  /** At least 1; more than there are is all. */
  limit?: number | undefined;
}

/**
 * The tasks of a sweep in planned order: those named (or all, in the dataset's order), shuffled if asked, then cut to the limit.
 * The same selection gives the same tasks for ever: a sweep that is extended relies on it.
 * @throws ProblemFileError for an unknown id, a bad seed or limit, or an empty selection
 */
export function selectTasks({ benchmark, tasks, shuffle, limit }: TaskSelection): string[] {
  let selected =
    tasks === undefined ? [...benchmark.taskIds] : [...new Set(tasks.map((text) => canonicalTaskId(benchmark, text)))];
  if (selected.length === 0)
    throw new ProblemFileError('No task is selected.', 'Name at least one task, or leave the list out.');
  if (shuffle !== undefined) {
    if (!Number.isSafeInteger(shuffle) || shuffle < 0)
      throw new ProblemFileError(`The shuffle seed ${shuffle} is no whole number from 0.`, 'Give one such as 7.');
    selected = shuffled(selected, shuffle);
  }
  if (limit !== undefined) {
    if (!Number.isSafeInteger(limit) || limit < 1)
      throw new ProblemFileError(`The limit ${limit} is no whole number from 1.`, 'Leave it out to run every task.');
    selected = selected.slice(0, limit);
  }
  return selected;
}

/**
 * Fisher–Yates from the end, with indices drawn from SplitMix64 (Steele, Lea, Flood 2014) seeded with `seed`: each index is the
 * 64-bit output modulo the number of items left (the bias is below 2^-50).
 */
function shuffled(items: readonly string[], seed: number): string[] {
  const result = [...items];
  let state = BigInt(seed);
  for (let last = result.length - 1; last > 0; last--) {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let mixed = state;
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    mixed ^= mixed >> 31n;
    const other = Number(mixed % BigInt(last + 1));
    const [a, b] = [result[last], result[other]];
    if (a !== undefined && b !== undefined) [result[last], result[other]] = [b, a];
  }
  return result;
}
