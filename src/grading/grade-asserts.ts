import {
  DEFAULT_LIMITS,
  type EncodedValue,
  type JudgeJob,
  type OutputRow,
  type Sandbox,
  type SandboxLimits,
} from '../sandbox/sandbox.ts';
import { bounded, TEST_CHARS } from './bounded.ts';
import { type CollectedTest, collectCalls, type TestSource } from './collect-calls.ts';
import { gradeInProcess } from './grade-in-process.ts';
import { replayTests } from './replay-tests.ts';
import type { TestResult } from './verdict.ts';

export interface AssertsJob {
  sandbox: Sandbox;
  programs: string[];
  entryPoint: string;
  /** Python that runs before each test: imports, helper definitions. */
  setup: string;
  /** Each a piece of Python, as a rule one `assert`, that calls the entry point by its name. */
  tests: string[];
  trust: JudgeJob['trust'];
  limits?: SandboxLimits | undefined;
  /** Ends a program after this many timeouts and crashes; its later tests are `not_run`. */
  stopAfter?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A test that calls with the result of a call needs one round a level. */
const MAX_ROUNDS = 5;

/**
 * Grades by replay: a judge learns which calls the tests make, the programs run those calls where no expected value
 * is, and the judge runs the tests over the recorded outputs. Results by program, then by test.
 */
export function gradeAsserts(job: AssertsJob): Promise<TestResult[][]> {
  return gradeTestSource({ ...job, source: { tests: job.tests } });
}

/** As `gradeAsserts`, for a `check(candidate)` function too; it counts as one test an assert where it is nothing but asserts, else as one test. */
export async function gradeTestSource(
  job: Omit<AssertsJob, 'tests'> & { source: TestSource },
): Promise<TestResult[][]> {
  const limits = job.limits ?? DEFAULT_LIMITS;
  const collected = await collectCalls(job);
  const { prelude, setup, alias, tests } = collected;
  const programs = [...new Set(job.programs)];
  const replayable = tests.filter((test) => test.invalid === undefined && test.inherent === undefined);
  const inherent = tests.filter((test) => test.invalid === undefined && test.inherent !== undefined);

  const replayed = await runAndReplay({ ...job, programs, setup, alias, tests: replayable, limits });
  const { sandbox, entryPoint, signal } = job;
  const inProcess = await gradeInProcess({
    sandbox,
    programs,
    entryPoint,
    alias,
    prelude,
    setup,
    tests: inherent,
    limits,
    signal,
  });

  const results = programs.map((_, program) => {
    const fromReplay = (replayed[program] ?? []).values();
    const fromProcess = (inProcess[program] ?? []).values();
    return tests.map((test): TestResult => {
      if (test.invalid !== undefined)
        return { status: 'invalid_test', test: bounded(test.label, TEST_CHARS), exception: test.invalid };
      const next = (test.inherent === undefined ? fromReplay : fromProcess).next();
      if (next.done === true) throw new Error('a test was left without a result');
      return next.value;
    });
  });
  return job.programs.map((source) => results[programs.indexOf(source)] ?? []);
}

async function runAndReplay(job: {
  sandbox: Sandbox;
  programs: string[];
  entryPoint: string;
  alias: string | null;
  setup: string;
  tests: CollectedTest[];
  trust: JudgeJob['trust'];
  limits: SandboxLimits;
  stopAfter?: number | undefined;
  signal?: AbortSignal | undefined;
}): Promise<TestResult[][]> {
  const { sandbox, programs, entryPoint, tests } = job;
  const calls: EncodedValue[] = [];
  const rows: (OutputRow | undefined)[][] = programs.map(() => []);
  const results: (TestResult | undefined)[][] = programs.map(() => tests.map(() => undefined));

  let wanted = [...new Set(tests.flatMap((test) => test.calls))];
  let open = programs.map((_, program) => program);
  for (let round = 0; round < MAX_ROUNDS && open.length > 0; round += 1) {
    await record(wanted, open);
    const outcome = await replayTests({ ...job, calls, programs: open.map((program) => rows[program] ?? []) });
    outcome.results.forEach((row, index) => {
      const ofProgram = results[open[index] ?? -1];
      row.forEach((result, test) => {
        if (ofProgram !== undefined && result !== 'need') ofProgram[test] = result;
      });
    });
    const needs = outcome.needs;
    wanted = [...new Set(needs.flat())].filter((call) => !calls.includes(call));
    open = open.filter((_, index) => (needs[index] ?? []).length > 0);
  }
  return results.map((row) =>
    row.map(
      (result, test) =>
        result ?? {
          status: 'error',
          test: bounded(tests[test]?.label ?? '', TEST_CHARS),
          exception: 'the test asks for ever more calls',
        },
    ),
  );

  async function record(newCalls: EncodedValue[], who: number[]): Promise<void> {
    if (newCalls.length === 0) return;
    const found = await sandbox.runCalls({
      programs: who.map((program) => ({ source: programs[program] ?? '', entryPoint })),
      calls: newCalls,
      limits: job.limits,
      stopAfter: job.stopAfter,
      signal: job.signal,
    });
    const offset = calls.length;
    calls.push(...newCalls);
    who.forEach((program, index) => {
      newCalls.forEach((_, call) => {
        const ofProgram = rows[program];
        if (ofProgram !== undefined) ofProgram[offset + call] = found[index]?.[call] ?? { kind: 'not_run' };
      });
    });
  }
}
