import type { Problem, VisibleTest } from '../problems/problem.ts';
import type { JudgeJob, Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import { gradeAsserts } from './grade-asserts.ts';
import { gradeStdio } from './grade-stdio.ts';
import type { TestResult } from './verdict.ts';

/** A program that hangs on three tests hangs; its later tests are `not_run`. Three, so that a self-debugger sees more than one. */
const STOP_AFTER = 3;

/** Visible or synthesised tests of one problem against whole programs. Results by program, then by test. */
export async function gradeTests(job: {
  sandbox: Sandbox;
  problem: Problem;
  programs: string[];
  tests: VisibleTest[];
  trust: JudgeJob['trust'];
  limits: SandboxLimits;
  signal?: AbortSignal | undefined;
}): Promise<TestResult[][]> {
  const { sandbox, problem, programs, tests, trust, limits, signal } = job;
  const asserts = tests.flatMap((test) => (test.kind === 'assert' ? [test.source] : []));
  const cases = tests.flatMap((test) => (test.kind === 'stdio' ? [test] : []));
  const common = { sandbox, programs, limits, stopAfter: STOP_AFTER, signal };
  const fromAsserts = await gradeAsserts({
    ...common,
    entryPoint: problem.entryPoint,
    setup: problem.preamble,
    prints: true,
    tests: asserts,
    trust,
  });
  const fromCases = await gradeStdio({ ...common, cases });
  return programs.map((_, program) => {
    const ofAsserts = (fromAsserts[program] ?? []).values();
    const ofCases = (fromCases[program] ?? []).values();
    return tests.map((test): TestResult => {
      const next = (test.kind === 'assert' ? ofAsserts : ofCases).next();
      if (next.done === true) throw new Error('a test was left without a result');
      return next.value;
    });
  });
}
