import type { Problem } from '../problems/problem.ts';
import { DEFAULT_LIMITS, type OutputRow, type Sandbox, type SandboxLimits } from '../sandbox/sandbox.ts';
import { gradeAsserts } from './grade-asserts.ts';
import type { Recorded } from './record-and-replay.ts';
import type { TestResult } from './verdict.ts';

/** A pool has many programs and many tests, and its hanging programs govern its time: 0.2 s of CPU a call is 1,000 times what most take. */
export const POOL_LIMITS: SandboxLimits = { ...DEFAULT_LIMITS, cpuSeconds: 0.2 };
/** A program that hangs, dies or runs out of memory twice does not pass the rest. */
export const POOL_STOP_AFTER = 2;

export interface PoolRun {
  /** By program, then by test. */
  statuses: TestResult['status'][][];
  /** By program, then by call: equal numbers for equal outputs, −1 without one. The calls are those that the tests make first, in their order. */
  outputs: Int32Array[];
  /** Programs that timed out and were run once more. */
  rechecked: number;
}

/**
 * Every program of a pool against every synthesised test, over recorded outputs; equal programs run once. What timed out makes its first slow
 * call once more when all others are done, since a machine that is full slows every program down; where that is quick now, all of them.
 */
export async function runPool(job: {
  sandbox: Sandbox;
  problem: Problem;
  programs: string[];
  /** Python asserts that call the entry point; the same text twice is a fault of the caller. */
  tests: string[];
  limits?: SandboxLimits | undefined;
  signal?: AbortSignal | undefined;
}): Promise<PoolRun> {
  const { sandbox, problem, tests, signal } = job;
  const distinct = [...new Set(job.programs)];
  if (tests.length === 0 || distinct.length === 0)
    return { statuses: job.programs.map(() => []), outputs: job.programs.map(() => new Int32Array()), rechecked: 0 };
  const run = async (programs: string[]) => {
    let recorded: Recorded = { calls: [], rows: programs.map(() => []) };
    const results = await gradeAsserts({
      sandbox,
      programs,
      entryPoint: problem.entryPoint,
      setup: problem.preamble,
      tests,
      trust: 'model',
      limits: job.limits ?? POOL_LIMITS,
      stopAfter: POOL_STOP_AFTER,
      brief: true,
      signal,
      observe: (seen) => {
        if (seen.rows.length === programs.length) recorded = seen;
      },
    });
    return { recorded, statuses: results.map((row) => row.map((result) => result.status)) };
  };
  const first = await run(distinct);
  const { statuses } = first;
  const { calls, rows } = first.recorded;
  const slow = distinct.flatMap((_, program) => (statuses[program]?.includes('timeout') === true ? [program] : []));
  const doubtful = await notSlowAgain();
  if (doubtful.length > 0) {
    const again = await run(doubtful.map((program) => distinct[program] ?? ''));
    doubtful.forEach((program, at) => {
      statuses[program] = again.statuses[at] ?? [];
      const found = new Map(again.recorded.calls.map((call, index) => [call, again.recorded.rows[at]?.[index]]));
      rows[program] = calls.map((call) => found.get(call));
    });
  }
  const outputs = numbered(rows, calls.length);
  const indexes = new Map(distinct.map((source, at) => [source, at]));
  const place = (source: string) => indexes.get(source) ?? 0;
  return {
    statuses: job.programs.map((source) => statuses[place(source)] ?? []),
    outputs: job.programs.map((source) => outputs[place(source)] ?? new Int32Array()),
    rechecked: slow.length,
  };

  /** Of the slow programs, those whose first slow call is quick now, or that were slow elsewhere: to be run as a whole. */
  async function notSlowAgain(): Promise<number[]> {
    const firstSlow = (program: number) => calls[rows[program]?.findIndex((row) => row?.kind === 'timeout') ?? -1];
    const found: number[] = [];
    for (const [call, of] of Map.groupBy(slow, firstSlow)) {
      const again =
        call === undefined
          ? []
          : await sandbox.runCalls({
              programs: of.map((program) => ({
                source: distinct[program] ?? '',
                entryPoint: problem.entryPoint,
              })),
              calls: [call],
              limits: job.limits ?? POOL_LIMITS,
              signal,
            });
      found.push(...of.filter((_, at) => again[at]?.[0]?.kind !== 'timeout'));
    }
    return found;
  }
}

/** Calls of later rounds depend on a program's own results; only those that every program was given are kept. */
function numbered(rows: (OutputRow | undefined)[][], calls: number): Int32Array[] {
  const shared = Array.from({ length: calls }, (_, call) => call).filter((call) =>
    rows.every((ofProgram) => ofProgram[call] !== undefined),
  );
  const numbers = new Map<string, number>();
  return rows.map((ofProgram) =>
    Int32Array.from(shared, (call) => {
      const row = ofProgram[call];
      if (row?.kind !== 'value') return -1;
      const number = numbers.get(row.value) ?? numbers.size;
      numbers.set(row.value, number);
      return number;
    }),
  );
}
