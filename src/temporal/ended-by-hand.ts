import { type Client, isGrpcServiceError } from '@temporalio/client';

/** Sweep, shard, problem: as far as a cancellation is followed back to where it came from. */
const GENERATIONS = 3;
/** What asked for an end stands near the end of the history. */
const PAGE_EVENTS = 100;
const PAGES = 5;
/** Of names and reasons, which are what somebody typed. */
const CHARACTERS = 200;
const NOT_FOUND = 5;

/** Reason that `sweep cancel` gives; it stands for who asked. */
export const SWEEP_CANCEL = 'qualityflow sweep cancel';

interface Execution {
  workflowId: string;
  /** Null: the latest run. */
  runId: string | null;
}

interface End {
  words: string;
  /** The workflow that passed a cancellation on to this one. */
  from: Execution | undefined;
}

/**
 * Who terminated the latest run of a workflow, or asked for its cancellation, and why: "terminated in Temporal by me@here: too slow",
 * "cancelled because sweep/a was cancelled in Temporal by me@here". Undefined when nobody did, or Temporal has forgotten the workflow.
 */
export async function endedByHand(client: Client, workflowId: string): Promise<string | undefined> {
  let from: Execution = { workflowId, runId: null };
  for (let generation = 0; generation < GENERATIONS; generation += 1) {
    const end = await lastEnd(client, from);
    const first = generation === 0;
    if (end === undefined) return first ? undefined : `cancelled with ${from.workflowId}`;
    if (end.from === undefined) return first ? end.words : `cancelled because ${from.workflowId} was ${end.words}`;
    from = end.from;
  }
  return `cancelled with ${from.workflowId}`;
}

async function lastEnd(client: Client, execution: Execution): Promise<End | undefined> {
  let nextPageToken: Uint8Array | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const { events, next }: EventsFromEnd = await eventsFromEnd(client, execution, nextPageToken);
    for (const event of events) {
      const terminated = event.workflowExecutionTerminatedEventAttributes;
      if (terminated) {
        return {
          words: `terminated in Temporal${by(terminated.identity)}${because(terminated.reason)}`,
          from: undefined,
        };
      }
      const asked = event.workflowExecutionCancelRequestedEventAttributes;
      if (asked) {
        const { workflowId, runId } = asked.externalWorkflowExecution ?? {};
        return {
          words:
            asked.cause === SWEEP_CANCEL
              ? `cancelled by \`${SWEEP_CANCEL}\``
              : `cancelled in Temporal${by(asked.identity)}${because(asked.cause)}`,
          from: workflowId ? { workflowId, runId: runId ?? null } : undefined,
        };
      }
    }
    if (!next?.length) return undefined;
    nextPageToken = next;
  }
  return undefined;
}

type EventsFromEnd = Awaited<ReturnType<typeof eventsFromEnd>>;

async function eventsFromEnd(client: Client, execution: Execution, nextPageToken: Uint8Array | undefined) {
  try {
    const answer = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: PAGE_EVENTS,
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    });
    return { events: answer.history?.events ?? [], next: answer.nextPageToken };
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) return { events: [], next: undefined };
    throw error;
  }
}

function by(identity: string | null | undefined): string {
  return identity ? ` by ${identity.slice(0, CHARACTERS)}` : '';
}

function because(reason: string | null | undefined): string {
  return reason ? `: ${reason.slice(0, CHARACTERS)}` : '';
}
