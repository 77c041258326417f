import { DEFAULT_LIMITS, type JudgeJob, type Sandbox, type SandboxLimits } from '../sandbox/sandbox.ts';
import { bounded, TEST_CHARS } from './bounded.ts';
import type { TestSource } from './collect-calls.ts';
import type { ExpectedStore } from './expected-outputs.ts';
import { gradeInProcess } from './grade-in-process.ts';
import { type Recorded, recordAndReplay } from './record-and-replay.ts';
import type { Replayed } from './replay-tests.ts';
import { settleTests } from './settle-tests.ts';
import type { TestResult } from './verdict.ts';

export interface AssertsJob {
  sandbox: Sandbox;
  programs: string[];
  entryPoint: string;
  /** Python that runs before each test: imports, helper definitions. */
  setup: string;
  /** Each a piece of Python, as a rule one `assert`, that calls the entry point by its name. */
  tests: string[];
  /** A whole program known to be right: what it cannot pass by replay is graded in each program's own process. */
  canonical?: string | undefined;
  trust: JudgeJob['trust'];
  /** Keeps what was settled with the canonical solution. */
  store?: ExpectedStore | undefined;
  limits?: SandboxLimits | undefined;
  /** Ends a program after this many timeouts and crashes; its later tests are `not_run`. */
  stopAfter?: number | undefined;
  /** Whether results tell what the program printed. */
  prints?: boolean | undefined;
  /** Statuses are enough: what a failed test got and wanted may be left out. */
  brief?: boolean | undefined;
  /** Told what the distinct programs, in order, returned for the calls of the tests that are replayed. */
  observe?: ((recorded: Recorded) => void) | undefined;
  signal?: AbortSignal | undefined;
}

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
  const settled = await settleTests({ ...job, limits });
  const programs = [...new Set(job.programs)];
  const common = { ...job, ...settled, limits, programs };
  const usable = settled.tests.filter((test) => test.invalid === undefined);
  const replayable = usable.filter((test) => test.inherent === undefined);
  const inherent = usable.filter((test) => test.inherent !== undefined);

  const replayed = await recordAndReplay({ ...common, tests: replayable });
  const inProcess = await gradeInProcess({ ...common, tests: inherent });
  const results: TestResult[][] = [];
  for (const [program, source] of programs.entries()) {
    const decided = await decideRest(source, replayed[program] ?? []);
    const [fromReplay, fromProcess] = [decided.values(), (inProcess[program] ?? []).values()];
    results.push(
      settled.tests.map((test): TestResult => {
        if (test.invalid !== undefined)
          return { status: 'invalid_test', test: bounded(test.label, TEST_CHARS), exception: test.invalid };
        const next = (test.inherent === undefined ? fromReplay : fromProcess).next();
        if (next.done === true) throw new Error('a test was left without a result');
        return next.value;
      }),
    );
  }
  return job.programs.map((source) => results[programs.indexOf(source)] ?? []);

  /** Where a canonical solution needed nothing but values and few rounds, a program that asks for more is wrong. Without one, its process decides. */
  async function decideRest(source: string, found: Replayed[]): Promise<TestResult[]> {
    const rest = replayable.filter((_, test) => found[test] === undefined);
    const hasCanonical = (job.canonical ?? '').trim() !== '';
    const [beside = []] = hasCanonical
      ? [rest.map(undecided)]
      : await gradeInProcess({ ...common, programs: [source], tests: rest });
    return replayable.map((test, index) => found[index] ?? beside[rest.indexOf(test)] ?? undecided(test));
  }
}

function undecided({ label }: { label: string }): TestResult {
  return {
    status: 'error',
    test: bounded(label, TEST_CHARS),
    exception: 'the test gets objects of the program, or asks for ever more calls',
  };
}
