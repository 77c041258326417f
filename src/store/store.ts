import type { Outcome, OutcomeSummary, PlannedRun, RunKey, TrailEntry } from '../activities/contract.ts';
import type { Graded } from '../grading/verdict.ts';
import type { Ledger, ModelReply, ModelRequest, ReplyStore } from '../models/model.ts';
import type { SandboxFingerprint } from '../sandbox/sandbox.ts';
import type { SweepSpec } from '../spec/spec.ts';

export type UnfinishedRun = Omit<PlannedRun, 'workflowId'>;

/**
 * `paused` by a person, `blocked` by a permanent error of its endpoint: both are running sweeps whose activities hold. `failed`: the sweep's
 * own workflow broke down, not a problem of it; a resume goes on.
 */
export type SweepState = 'created' | 'running' | 'paused' | 'blocked' | 'completed' | 'cancelled' | 'failed';

export interface SweepPlan {
  name: string;
  spec: SweepSpec;
  /** sha256 over what changes results (see `specIdentity`). */
  specHash: string;
  datasetSha256: string;
  /** True when the offline scripted model answered: its numbers are labelled wherever they appear. */
  scripted: boolean;
  /** Base URL without credentials, or `scripted`. */
  endpointIdentity: string;
  planned: number;
  state: SweepState;
  /** Why, for `blocked`, and where it is known for `cancelled` and `failed`; empty otherwise. */
  stateReason: string;
  createdAt: string;
  updatedAt: string;
}

export interface SweepRow extends SweepPlan {
  /** Task ids in planned order. */
  tasks: string[];
}

/** Replies that were sent for, and their tokens; the others were in the store before. */
export interface PaidReplies {
  replies: number;
  prompt: number;
  completion: number;
}

/** Tasks and replies, what happened: one line of `show`. Written by the activity that did it; replays replace it. */
export interface StepRow {
  run: RunKey;
  step: string;
  /** Activity name. */
  activity: string;
  replyKey?: string | undefined;
  /** Whether the reply came from the store. */
  reused: boolean;
  /** Parsed result as JSON text, bounded. */
  result: string;
  startedAt: string;
  durationMs: number;
}

export interface OutcomeRow extends OutcomeSummary {
  run: RunKey;
  /** Each program of the trail with its grade; empty when nothing was graded. */
  trail: (TrailEntry & { graded: Graded })[];
  /** Index into trail; null when nothing was submitted. */
  submission: number | null;
  fingerprint: SandboxFingerprint | null;
  recordedAt: string;
}

/** Outcomes that close a problem for good; only rows that are not final are ever replaced. */
export interface Store extends ReplyStore, Ledger {
  /** `exists` when the name is taken. */
  createSweep(
    sweep: Omit<SweepRow, 'state' | 'stateReason' | 'createdAt' | 'updatedAt'>,
  ): Promise<'created' | 'exists'>;
  /** The row without its tasks: one small read, for activities that know their task. */
  getPlan(name: string): Promise<SweepPlan | undefined>;
  getSweep(name: string): Promise<SweepRow | undefined>;
  listSweeps(): Promise<SweepRow[]>;
  /**
   * One statement; `from` makes it conditional (a sweep that has completed meanwhile is not paused any more), and so does `unchangedSince`,
   * the `updatedAt` of a row that was read before. False when nothing changed.
   * A sweep that ends leaves no reservation open: what is, becomes possibly charged.
   */
  setSweepState(
    name: string,
    state: SweepState,
    options?: { reason?: string; from?: readonly SweepState[]; unchangedSince?: string },
  ): Promise<boolean>;
  /** Changes what may change on resume: a raised budget counts for the very next request, in every process. False when there is no such sweep. */
  updateOperational(
    name: string,
    change: Partial<Pick<SweepSpec, 'concurrency' | 'budget' | 'prices' | 'maxWaitMs'>>,
  ): Promise<boolean>;
  /**
   * Grows a plan in place: more samples a task, or more tasks after those there are. `fromHash` is the spec's hash as the caller knows it.
   * False when that has changed meanwhile, or the plan would not only grow. No workflow of the sweep may be running.
   */
  extendSweep(input: {
    name: string;
    fromHash: string;
    samples: number;
    /** How the spec selects its tasks from now on; what is absent stays. */
    selection: Pick<SweepSpec, 'tasks' | 'limit'>;
    specHash: string;
    /** All tasks, those before first. */
    tasks: string[];
  }): Promise<boolean>;
  /** Endpoint and allowed requests at once of each running sweep; one that is paused or blocked sends nothing. */
  runningLimits(): Promise<{ endpoint: string; requests: number }[]>;
  /** Positions are task index × samples + sample. */
  listUnfinished(input: { sweep: string; from: number; to: number; limit: number }): Promise<UnfinishedRun[]>;
  /** Written once: replaces only a row that is not final and not of a later attempt. False when it changed nothing. */
  recordOutcome(row: OutcomeRow): Promise<boolean>;
  /**
   * Makes a run unfinished that has a final outcome: its row stays as `cancelled`, one attempt later, so that a straggler of the
   * attempt that wrote it cannot close it again. Gives the outcome it had; undefined when this attempt has no final outcome, or no longer.
   */
  reopenOutcome(run: { sweep: string; taskId: string; sample: number; attempt: number }): Promise<Outcome | undefined>;
  getOutcome(key: { sweep: string; taskId: string; sample: number }): Promise<OutcomeRow | undefined>;
  outcomes(sweep: string): AsyncIterable<OutcomeRow>;
  countOutcomes(sweep: string): Promise<Record<string, number>>;
  recordStep(step: StepRow): Promise<void>;
  /** Of these steps of one attempt, those that the store has no row of. */
  missingSteps(run: RunKey, steps: readonly string[]): Promise<string[]>;
  steps(key: { sweep: string; taskId: string; sample: number }): Promise<StepRow[]>;
  /**
   * Totals over a sweep's or one task's steps of every attempt. `sent` and `reused` count steps with a reply; the first one
   * recorded with it has sent the request in any case. Tokens are those of the distinct replies, `paid` those of the ones that a step of it has sent for;
   * `unmetered` replies came without a token count and add nothing.
   */
  usage(key: { sweep: string; taskId?: string; sample?: number }): Promise<{
    sent: number;
    reused: number;
    prompt: number;
    completion: number;
    unmetered: number;
    paid: PaidReplies;
    /** `requests` counts distinct replies. */
    byActivity: Record<string, { requests: number; prompt: number; completion: number; paid: PaidReplies }>;
  }>;
  /** How many of these keys have a stored reply. */
  countReplies(keys: readonly string[]): Promise<number>;
  /** The stored request and reply of a key, for `show`. */
  getExchange(key: string): Promise<{ request: ModelRequest; reply: ModelReply } | undefined>;
  /**
   * Rejects with the `StoreError` `replaced` when a backup has taken the place of the file since it was opened, `removed` when it is gone. Every
   * other method does so, too: what is written to a file without a name is lost.
   */
  requireSameFile(): Promise<void>;
  close(): Promise<void>;
}
