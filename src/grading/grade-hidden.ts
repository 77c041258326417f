import type { HiddenTests } from '../problems/hidden-tests.ts';
import type { Problem } from '../problems/problem.ts';
import { DEFAULT_LIMITS, type Sandbox, type SandboxLimits } from '../sandbox/sandbox.ts';
import { gradeTestSource } from './grade-asserts.ts';
import { gradeEvalPlus } from './grade-evalplus.ts';
import { gradeStdio } from './grade-stdio.ts';
import { summarise } from './summarise.ts';
import type { Graded } from './verdict.ts';

/**
 * EvalPlus allows 4 GB. It bounds each test by max(1 s, 4 × the canonical solution's time); here every call has the same bound. Its
 * tasks return up to megabytes a test, and all outputs of a program count.
 */
export const EVALPLUS_LIMITS: SandboxLimits = { cpuSeconds: 4, memoryBytes: 4 * 2 ** 30, outputBytes: 256 << 20 };

/** One abnormal end decides a submission: the rest of its tests is not run. */
const STOP_AFTER = 1;

/** Grades whole programs on the hidden tests of one task; one `Graded` a program, in order. */
export async function gradeHidden(job: {
  sandbox: Sandbox;
  problem: Problem;
  hidden: HiddenTests;
  programs: string[];
  limits?: SandboxLimits | undefined;
  signal?: AbortSignal | undefined;
}): Promise<Graded[]> {
  const { sandbox, problem, hidden, programs, signal } = job;
  const { entryPoint, preamble } = problem;
  const limits = job.limits ?? (hidden.kind === 'evalplus' ? EVALPLUS_LIMITS : DEFAULT_LIMITS);
  const common = { sandbox, programs, limits, signal };
  switch (hidden.kind) {
    case 'evalplus':
      return gradeEvalPlus({ ...common, hidden, entryPoint });
    case 'stdio':
      return (await gradeStdio({ ...common, cases: hidden.cases, stopAfter: STOP_AFTER })).map(summarise);
    case 'check':
    case 'asserts': {
      const source = hidden.kind === 'check' ? { check: hidden.source } : { tests: hidden.asserts };
      const setup = hidden.kind === 'check' ? preamble : hidden.setup;
      const results = await gradeTestSource({
        ...common,
        entryPoint,
        setup,
        source,
        canonical: hidden.canonical,
        trust: 'benchmark',
        stopAfter: STOP_AFTER,
      });
      return results.map(summarise);
    }
  }
}
