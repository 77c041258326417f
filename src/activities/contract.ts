/**
 * The face of the activities towards the workflows: types only. Every activity is one model request or one sandbox job, named after
 * what it does in the papers, because that name is what a person reads in Temporal UI. References and small values travel; nothing
 * here can hold a hidden test.
 */
import type { TestResult } from '../grading/verdict.ts';
import type { ModelSettings } from '../models/model.ts';
import type { Problem, VisibleTest } from '../problems/problem.ts';
import type { MethodName } from '../selection/methods.ts';
import type { Strategy } from '../spec/spec.ts';

/** A test as a strategy handles it: visible or synthesised. */
export type Test = VisibleTest;

/** Identifies one planned run of a strategy; `attempt` is the fence of architecture §7. */
export interface RunKey {
  sweep: string;
  taskId: string;
  sample: number;
  attempt: number;
}

/** Passed to every activity: whose step this is, and what the step is called (`generate/0`, `check/generate/0/test/1`). */
export interface StepContext {
  run: RunKey;
  step: string;
}

export interface ModelContext extends StepContext {
  model: ModelSettings;
  /** Where the sweep's endpoint led when it was planned; a worker whose environment leads elsewhere must not answer for it. */
  endpointIdentity: string;
  seed: number;
  /** 0, or 1 when the reply to the same prompt could not be used. */
  retry: number;
  /** Why the last reply could not be used; told to the model on a retry. */
  complaint?: string | undefined;
}

/** A reference to the stored reply, with what a person wants to see at once. */
export interface ReplyRef {
  key: string;
  tokens: { prompt: number; completion: number };
  reused: boolean;
  /** Beginning and end of prompt and reply, bounded to a few KB. */
  prompt: string;
  reply: string;
}

/** Why a reply gave nothing to use. */
export type UnusableReason =
  | 'no_code'
  | 'no_answer'
  | 'truncated'
  | 'refused'
  | 'empty'
  | 'no_final_answer'
  | 'context_too_long'
  | 'rejected'
  | 'tool_call_garbage';

export type Unusable = { kind: 'unusable'; reason: UnusableReason; detail: string; reply?: ReplyRef | undefined };

/**
 * The activity did not start its work, and holds nothing: the workflow waits, and calls it again. `paused`: a person paused the sweep.
 * `blocked`: a permanent error of the endpoint stopped it (`sweep resume` goes on). `budget`: open reservations of others leave no room
 * at the moment. `paced`: the endpoint asked for a wait too long to sit through in an activity; `until` (ISO 8601, for people)
 * and `waitMs`, which no clock that is wrong or set anew can change, are given for this one alone.
 */
export type Held = {
  kind: 'held';
  reason: 'paused' | 'blocked' | 'budget' | 'paced';
  detail: string;
  until?: string | undefined;
  waitMs?: number | undefined;
};

export type ProgramReply = { kind: 'program'; code: string; rule: string; reply: ReplyRef } | Unusable | Held;
/** One completed visible test, as the model imagined it. `prediction` is a Python expression; `comparison` decides it (see `maskExpected`). */
export type PredictionReply =
  | { kind: 'prediction'; prediction: string; comparison: string; reply: ReplyRef }
  | Unusable
  | Held;
export type JudgementReply = { kind: 'judgement'; accept: boolean; reply: ReplyRef } | Unusable | Held;
export type TestsReply = { kind: 'tests'; tests: Test[]; reply: ReplyRef } | Unusable | Held;
export type ClarificationReply = { kind: 'clarification'; statement: string; reply: ReplyRef } | Unusable | Held;

/**
 * What a batch of draws gave, by reference: texts stay in the rows of its steps. `steps` are those with something to use, in order of the draws;
 * `recorded` all that have a row; `unusable` why a reply gave nothing, for one of them: an endpoint's refusal of the request comes first. `next` is the
 * first draw that was not made, because the endpoint failed there: what came before it is no reason to use up the attempts of what is left.
 */
export interface Drawn {
  kind: 'drawn';
  steps: string[];
  recorded: string[];
  unusable?: Unusable | undefined;
  next?: number | undefined;
}

/** Of programs and tests: rows of this run's steps, or texts where they are few. */
export type ProgramSource = { steps: string[] } | { programs: string[] };
export type TestSource = { steps: string[] } | { tests: Test[] };

/** Sizes of a pass matrix, which stays in the row of its step. */
export interface PoolRef {
  kind: 'pool';
  step: string;
  programs: number;
  /** Of different text. */
  distinct: number;
  /** Columns: distinct tests. */
  tests: number;
  /** Distinct tests that cannot be used: they do not parse, never call the entry point, or read a name that nobody defines. */
  leftOut: number;
}

export interface Ranked {
  kind: 'ranked';
  /** Programs of the pool, best first, as many as were asked for. */
  top: number[];
  /** How many share the first place. */
  tied: number;
}

/** What a strategy hands over when it ends. `selected`: ranked first among many. */
export type Step = 'generated' | 'debug1' | 'debug2' | 'debug3' | 'clarified' | 'selected';

/** One program of the trail. `accepted` is the checker's word; null where nothing was checked. */
export interface TrailEntry {
  step: Step;
  /** Progression: index of the generator prompt; of a selected program, the number of its draw. */
  progression: number;
  /** Clarifier attempt, debug epoch or rank of a selected program, from 1; 0 for generated. */
  round: number;
  code: string;
  accepted: boolean | null;
}

/** How a strategy left a task: what it submits (index into trail), or why there is nothing to grade. */
export type Solution =
  | {
      kind: 'submitted';
      trail: TrailEntry[];
      submission: number;
      finalStep: Step | 'reverted';
      /** What a person must know of the choice; stands in the outcome's detail. */
      note?: string | undefined;
    }
  /**
   * The best programs of a pool, by the steps that hold them; the first is submitted. `unranked`: without a usable test there is no better
   * and no worse, and the first programs are taken.
   */
  | {
      kind: 'selected';
      top: { step: string; program: number }[];
      finalStep: 'selected' | 'unranked';
      note: string;
    }
  | { kind: 'nothing'; reason: 'no_code' | 'refused' | 'truncated'; detail: string }
  /** Every request for a program was refused by the endpoint: that says nothing about the model. */
  | { kind: 'unserved'; detail: string };

export type FinalOutcome =
  | 'pass'
  | 'wrong'
  | 'error'
  | 'timeout'
  | 'memory_limit'
  | 'output_limit'
  | 'no_code'
  | 'refused'
  | 'truncated'
  | 'invalid_test';
export type OpenOutcome = 'infra' | 'budget_exhausted' | 'cancelled';
export type Outcome = FinalOutcome | OpenOutcome;

/** The end of `solveProblem`, small enough for a history. */
export interface OutcomeSummary {
  outcome: Outcome;
  detail: string;
  /** Why the strategy stopped where it stopped: `generated`, `debug2`, `clarified`, `reverted`, `selected`, `unranked`, `nothing`. */
  finalStep: string;
  tokens: number;
  requests: number;
}

export interface ProblemInput {
  run: RunKey;
  benchmark: string;
  strategy: Strategy;
  model: ModelSettings;
  endpointIdentity: string;
  seed: number;
  /** Longest time in all that the problem waits because its endpoint asked for it, in ms. */
  maxWaitMs: number;
  queues: Queues;
}

/** Task queue names travel with the input, so that tests and fleets choose their own. */
export interface Queues {
  control: string;
  model: string;
  sandbox: string;
}

export interface PlannedRun {
  /** Of `solveProblem`. */
  workflowId: string;
  position: number;
  taskId: string;
  sample: number;
  /** 1 + attempts recorded so far. */
  attempt: number;
}

/** Served by the control queue. */
export interface StoreActivities {
  loadProblem: (input: { sweep: string; taskId: string }) => Promise<Problem>;
  /** Everything a shard needs to start problems, without the problems. */
  loadSweep: (input: { sweep: string }) => Promise<{
    planned: number;
    benchmark: string;
    strategy: Strategy;
    model: ModelSettings;
    endpointIdentity: string;
    seed: number;
    maxWaitMs: number;
    concurrency: number;
  }>;
  /** Planned runs in `[from, to)` without a final outcome, in order of position. */
  listUnfinished: (input: { sweep: string; from: number; to: number; limit: number }) => Promise<PlannedRun[]>;
  /** Whether a workflow of this id is running now. Short, so that waiting for one holds no slot. */
  isRunning: (input: { workflowId: string }) => Promise<boolean>;
  /** Outcomes that end without a grade: nothing to grade, infra, cancelled. Who cancelled is added to the row's words. `steps` as in `scoreSubmission`. */
  recordOutcome: (input: {
    run: RunKey;
    summary: OutcomeSummary;
    steps?: string[] | undefined;
  }) => Promise<OutcomeSummary>;
  /** A problem that was terminated wrote no row: its row becomes `cancelled`, with who did it and why, unless this attempt has one. */
  recordTermination: (input: { run: RunKey; workflowId: string }) => Promise<void>;
  /** Who terminated or cancelled the latest run of this id, and why, in words; null when nobody did. */
  endedByHand: (input: { workflowId: string }) => Promise<string | null>;
  /** Ranks the programs of a pass matrix that `runPool` made; how well each stands is in the row of its step. */
  rankPool: (input: {
    context: StepContext;
    pool: string;
    method: MethodName;
    prefilter: 'none' | 'static';
    seed: number;
    submit: number;
  }) => Promise<Ranked>;
  countOutcomes: (input: { sweep: string }) => Promise<Record<string, number>>;
  /**
   * `running` leaves a sweep alone that is paused or blocked: only a person's `unpause` or `resume` ends that. `cancelled` without a reason
   * gets the one that Temporal knows.
   */
  markSweep: (input: {
    sweep: string;
    state: 'running' | 'completed' | 'cancelled' | 'failed';
    reason?: string | undefined;
  }) => Promise<void>;
  /** Called by what a terminated sweep leaves behind: marks the sweep as cancelled, with who did it and why; one that runs is left alone. */
  markTerminated: (input: { sweep: string }) => Promise<void>;
}

/** A batch is asked one request after the other, so that it holds one slot; the steps of its draws make their own names. */
export type BatchContext = Omit<ModelContext, 'step' | 'retry' | 'complaint'>;

/** Served by a model queue: one model request each (two turns for imagined execution), but for the batches. */
export interface ModelActivities {
  /** Draws `from` to `from + count`, as the steps `program/N`. Fails only at its first draw. */
  drawPrograms: (input: {
    context: BatchContext;
    problem: Problem;
    from: number;
    count: number;
  }) => Promise<Drawn | Held>;
  /** The same for queries of the test designer, as the steps `tests/N`. */
  drawTests: (input: {
    context: BatchContext;
    problem: Problem;
    from: number;
    count: number;
    perQuery: number;
  }) => Promise<Drawn | Held>;
  generateProgram: (input: {
    context: ModelContext;
    problem: Problem;
    prompt: number;
    clarification?: string | undefined;
    avoid?: string | undefined;
  }) => Promise<ProgramReply>;
  imagineExecution: (input: {
    context: ModelContext;
    problem: Problem;
    code: string;
    test: Test;
    showProblem: boolean;
  }) => Promise<PredictionReply>;
  criticiseProgram: (input: { context: ModelContext; problem: Problem; code: string }) => Promise<JudgementReply>;
  designTests: (input: {
    context: ModelContext;
    problem: Problem;
    query: number;
    count: number;
  }) => Promise<TestsReply>;
  judgeTest: (input: { context: ModelContext; problem: Problem; test: Test }) => Promise<JudgementReply>;
  debugProgram: (input: {
    context: ModelContext;
    problem: Problem;
    code: string;
    results: TestResult[];
    prompt: number;
  }) => Promise<ProgramReply>;
  clarifyProblem: (input: {
    context: ModelContext;
    problem: Problem;
    evidence: ClarifierEvidence;
  }) => Promise<ClarificationReply>;
}

/** All the context the Clarifier re-reads the statement with. */
export interface ClarifierEvidence {
  code: string;
  tests: { test: Test; kept: boolean }[];
  /** Results of the last debugged program on the kept tests. */
  results: TestResult[];
  /** Earlier clarifications of this progression that led to a rejected program. */
  earlier: { clarification: string; code: string }[];
}

/** Served by the sandbox queue: one sandbox job each. */
export interface SandboxActivities {
  /** Rows by program, then by test. Tests are trusted as model-written. */
  runPrograms: (input: {
    context: StepContext;
    problem: Problem;
    programs: string[];
    tests: Test[];
  }) => Promise<{ kind: 'rows'; rows: TestResult[][] } | Held>;
  /**
   * Every program against every distinct test, over recorded outputs. Tests are trusted as model-written. Fails as `StoreIsOlder` when a
   * step is missing.
   */
  runPool: (input: {
    context: StepContext;
    problem: Problem;
    programs: ProgramSource;
    tests: TestSource;
  }) => Promise<PoolRef | Held>;
  /** Imagined Execution's last step: true where the predicted value satisfies the original assertion; the candidate is not present. */
  comparePredictions: (input: {
    context: StepContext;
    predictions: { prediction: string; comparison: string }[];
  }) => Promise<{ kind: 'compared'; equal: boolean[] } | Held>;
  /**
   * Grades the distinct programs of the trail on the hidden tests and records the outcome. The only activity that reads hidden tests.
   * Fails as `StoreIsOlder` when the store lacks one of `steps`, those that the workflow has seen done.
   */
  scoreSubmission: (input: {
    run: RunKey;
    solution: Extract<Solution, { kind: 'submitted' | 'selected' }>;
    steps?: string[] | undefined;
  }) => Promise<OutcomeSummary | Held>;
}

export type Activities = StoreActivities & ModelActivities & SandboxActivities;
