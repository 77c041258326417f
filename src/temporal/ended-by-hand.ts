import { type Client, isGrpcServiceError } from '@temporalio/client';

/** Sweep, shard, problem: as far as a cancellation is followed back to where it came from. */
const GENERATIONS = 3;
/** What asked for an end stands near the end of the history. */
const PAGE_EVENTS = 100;
const PAGES = 5;
/** Of names and reasons, which are what somebody typed. */
const CHARACTERS = 200;
const NOT_FOUND = 5;

/** In the name of which the server ends a running workflow that is to be deleted. */
const SERVER = 'history-service';
const DELETED = 'deleted in Temporal';

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
 * "cancelled because sweep/a was cancelled in Temporal by me@here", "deleted in Temporal" when Temporal does not know it (any more). Undefined when
 * nobody did.
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

/** What a person did that left a run without an outcome: ended its workflow, or one of its activities. */
export async function personsHand(client: Client, workflowId: string): Promise<string | undefined> {
  return (await endedByHand(client, workflowId)) ?? activityEndedByHand(client, workflowId);
}

async function lastEnd(client: Client, execution: Execution): Promise<End | undefined> {
  let nextPageToken: Uint8Array | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const found: EventsFromEnd = await eventsFromEnd(client, execution, nextPageToken);
    if (found === undefined) return { words: DELETED, from: undefined };
    for (const event of found.events) {
      const terminated = event.workflowExecutionTerminatedEventAttributes;
      if (terminated) {
        const deleted = terminated.identity === SERVER && /\bdelete\b/i.test(terminated.reason ?? '');
        if (deleted) return { words: DELETED, from: undefined };
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
    if (!found.next?.length) return undefined;
    nextPageToken = found.next;
  }
  return undefined;
}

/**
 * The activity of the latest run of a workflow to whose end a person has helped last, and who that was: "its generateProgram was completed in
 * Temporal by me@here", "its scoreSubmission was failed in Temporal by me@here: enough". Undefined when its workers ended them all.
 */
export async function activityEndedByHand(client: Client, workflowId: string): Promise<string | undefined> {
  /** By the event of their start, which an end comes after. */
  const ends = new Map<string, { words: string; identity: string | null | undefined }>();
  const suspects = new Map<string, string>();
  let nextPageToken: Uint8Array | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const found: EventsFromEnd = await eventsFromEnd(client, { workflowId, runId: null }, nextPageToken);
    for (const event of found?.events ?? []) {
      const completed = event.activityTaskCompletedEventAttributes;
      const failed = event.activityTaskFailedEventAttributes;
      const { activityTaskStartedEventAttributes: started, activityTaskScheduledEventAttributes: scheduled } = event;
      if (completed)
        ends.set(String(completed.startedEventId), {
          words: `completed in Temporal${by(completed.identity)}`,
          identity: completed.identity,
        });
      else if (failed)
        ends.set(String(failed.startedEventId), {
          words: `failed in Temporal${by(failed.identity)}${because(failed.failure?.message)}`,
          identity: failed.identity,
        });
      else if (started) {
        const end = ends.get(String(event.eventId));
        // Whoever has taken an activity ends it.
        if (end !== undefined && end.identity !== started.identity)
          suspects.set(String(started.scheduledEventId), end.words);
      } else if (scheduled) {
        const words = suspects.get(String(event.eventId));
        if (words !== undefined) return `its ${scheduled.activityType?.name ?? 'activity'} was ${words}`;
      }
    }
    if (!found?.next?.length) return undefined;
    nextPageToken = found.next;
  }
  return undefined;
}

type EventsFromEnd = Awaited<ReturnType<typeof eventsFromEnd>>;

/** Undefined when Temporal does not know the workflow. */
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
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) return undefined;
    throw error;
  }
}

function by(identity: string | null | undefined): string {
  return identity ? ` by ${identity.slice(0, CHARACTERS)}` : '';
}

function because(reason: string | null | undefined): string {
  return reason ? `: ${reason.slice(0, CHARACTERS)}` : '';
}
