import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { RunningProblem } from './sweep-runs.ts';

/** Problems asked about: what is wrong with one is wrong with many. */
const ASKED = 10;
/** Heartbeats time out after 5 s at most (`workflows/proxies.ts`); a problem that is quiet for longer has lost its worker. */
const LATE_MS = 15_000;
/** Of a failure's message; an endpoint's words may be long. */
const REASON_CHARACTERS = 200;

/** What running problems wait for, as far as it is not the sweep's own state. */
export interface Health {
  /** Problems that sit out a wait the endpoint asked for, and when the last of them goes on (ms since 1970). */
  paced: { problems: number; untilMs: number } | undefined;
  /** Problems that wait until others' reservations are settled. */
  awaitBudget: number;
  /** Problems whose work no worker shows any sign of, and how long ago the last one came. */
  late: { problems: number; quietMs: number } | undefined;
  /** Problems with an activity that has failed and is tried again, but for paced ones: the one that has failed most often tells why. */
  retrying: ({ problems: number } & Retry) | undefined;
}

export interface Retry {
  /** Message of the last failure, bounded and otherwise as it came. */
  reason: string;
  /** From 2. */
  attempt: number;
  /** Null when the attempt is under way. */
  nextInMs: number | null;
}

/** Looks at a bounded number of running problems; the first ones stand for all. */
export async function problemHealth(
  client: Client,
  running: readonly RunningProblem[],
  nowMs: number,
): Promise<Health> {
  const described = await Promise.all(
    running.slice(0, ASKED).map(({ workflowId }) =>
      client.workflow
        .getHandle(workflowId)
        .describe()
        .catch((error: unknown) => {
          if (error instanceof WorkflowNotFoundError) return undefined;
          throw error;
        }),
    ),
  );
  const raws = described.flatMap((problem) => (problem?.status.name === 'RUNNING' ? [problem.raw] : []));
  const pauses = [
    ...running.map(({ waiting }) => (waiting?.reason === 'paced' ? Date.parse(waiting.until ?? '') : Number.NaN)),
    ...raws.map(pacedUntilMs),
  ].filter((untilMs) => untilMs > nowMs);
  const quiet = raws.map((raw) => quietMs(raw, nowMs)).filter((ms) => ms > LATE_MS);
  const retries = raws.flatMap((raw) => retryOf(raw, nowMs) ?? []);
  const worst = mostTried(retries);
  return {
    paced: pauses.length === 0 ? undefined : { problems: pauses.length, untilMs: Math.max(...pauses) },
    awaitBudget: running.filter(({ waiting }) => waiting?.reason === 'budget').length,
    late: quiet.length === 0 ? undefined : { problems: quiet.length, quietMs: Math.max(...quiet) },
    retrying: worst === undefined ? undefined : { problems: retries.length, ...worst },
  };
}

type Raw = WorkflowExecutionDescription['raw'];

/** When the last activity goes on that the endpoint has asked to wait; NaN when there is none. */
function pacedUntilMs({ pendingActivities }: Raw): number {
  const waits = (pendingActivities ?? []).flatMap(({ lastFailure, nextAttemptScheduleTime }) => {
    const atMs = optionalTsToMs(nextAttemptScheduleTime);
    return lastFailure?.applicationFailureInfo?.nextRetryDelay && atMs !== undefined ? [atMs] : [];
  });
  return waits.length === 0 ? Number.NaN : Math.max(...waits);
}

/** The activity that has failed most often and is tried again; a wait that the endpoint asked for is no such retry. */
export function retryOf({ pendingActivities }: Pick<Raw, 'pendingActivities'>, nowMs: number): Retry | undefined {
  const retries = (pendingActivities ?? []).flatMap(({ attempt, lastFailure, nextAttemptScheduleTime }) => {
    if (!attempt || attempt < 2 || !lastFailure || lastFailure.applicationFailureInfo?.nextRetryDelay) return [];
    const waitMs = (optionalTsToMs(nextAttemptScheduleTime) ?? 0) - nowMs;
    const reason = (lastFailure.message ?? '').slice(0, REASON_CHARACTERS);
    return [{ reason: reason || 'it failed without a message', attempt, nextInMs: waitMs > 0 ? waitMs : null }];
  });
  return mostTried(retries);
}

function mostTried(retries: readonly Retry[]): Retry | undefined {
  return retries.toSorted((a, b) => b.attempt - a.attempt)[0];
}

/** Time since the last sign of life where there should be one: of a started activity, of one whose worker died, of a workflow task. */
function quietMs({ pendingActivities, pendingWorkflowTask }: Raw, nowMs: number): number {
  const signs = (pendingActivities ?? []).flatMap(
    ({ lastHeartbeatTime, lastStartedTime, lastFailure, lastWorkerIdentity, state }) => {
      const started = state === 2;
      const lost = lastFailure?.timeoutFailureInfo !== undefined && lastFailure?.timeoutFailureInfo !== null;
      if (!started && !lost) return [];
      const lastMs = Math.max(optionalTsToMs(lastHeartbeatTime) ?? 0, optionalTsToMs(lastStartedTime) ?? 0);
      return lastMs === 0 || lastWorkerIdentity === '' ? [] : [lastMs];
    },
  );
  const task = optionalTsToMs(pendingWorkflowTask?.originalScheduledTime);
  const since = [...signs, ...(task === undefined ? [] : [task])];
  return since.length === 0 ? 0 : nowMs - Math.min(...since);
}
