import type { CallsJob, EncodedValue, Program } from './sandbox.ts';
import type { RunnerJob } from './slot.ts';

/** Programs that one container is given at once: a round trip is as long as a small program takes. */
const TOGETHER = 16;
/** So many groups a container at least, so that one slow program does not leave the other containers without work. */
const GROUPS_A_SLOT = 4;

/** Programs in the groups in which containers get them, in order. */
export function groupsOf<Item>(items: readonly Item[], slots: number): Item[][] {
  const size = Math.max(1, Math.min(TOGETHER, Math.floor(items.length / (slots * GROUPS_A_SLOT))));
  return Array.from({ length: Math.ceil(items.length / size) }, (_, group) =>
    items.slice(group * size, (group + 1) * size),
  );
}

/** What all programs of a job share, as it travels: made once. */
export function sharedPart(calls: readonly EncodedValue[]): Buffer {
  return Buffer.from(JSON.stringify({ calls }));
}

/** The runner's job for these programs: each of their processes reads the shared part and its own. */
export function callsRequest(
  job: Pick<CallsJob, 'calls' | 'limits' | 'slowCalls' | 'prints' | 'stopAfter'>,
  shared: Buffer,
  programs: readonly Program[],
): RunnerJob {
  const { calls, limits, slowCalls, prints, stopAfter } = job;
  const parts = programs.map(({ source, entryPoint }) => Buffer.from(JSON.stringify({ source, entryPoint })));
  const sizes = parts.map((part) => part.length);
  return {
    request: {
      op: 'calls',
      count: calls.length,
      shared: shared.length,
      programs: sizes,
      limits,
      slowCalls,
      prints,
      stopAfter,
    },
    payload: Buffer.concat([shared, ...parts]),
  };
}
