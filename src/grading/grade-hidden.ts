import type { HiddenTests } from '../problems/hidden-tests.ts';
import type { Problem } from '../problems/problem.ts';
import type { Isolation, Sandbox } from '../sandbox/sandbox.ts';
import type { ExpectedStore } from './expected-outputs.ts';
import { gradeTestSource } from './grade-asserts.ts';
import { gradeEvalPlus } from './grade-evalplus.ts';
import { gradeStdio } from './grade-stdio.ts';
import { type LimitsMode, sandboxLimits, usualLimits } from './limits.ts';
import { summarise } from './summarise.ts';
import type { Graded } from './verdict.ts';

/** One abnormal end decides a submission: the rest of its tests is not run. */
const STOP_AFTER = 1;

/** Grades whole programs on the hidden tests of one task; one `Graded` a program, in order. */
export async function gradeHidden(job: {
  sandbox: Sandbox;
  problem: Problem;
  hidden: HiddenTests;
  programs: string[];
  limits?: LimitsMode | undefined;
  /** Whether the calls of a program share a process. */
  isolation?: Isolation | undefined;
  /** Where outputs of canonical solutions are kept for later processes. */
  expected?: ExpectedStore | undefined;
  signal?: AbortSignal | undefined;
}): Promise<Graded[]> {
  const { sandbox, problem, hidden, programs, signal } = job;
  const { entryPoint, preamble } = problem;
  const mode = job.limits ?? usualLimits(hidden);
  const limits = { ...sandboxLimits(mode, hidden), isolation: job.isolation };
  const common = { sandbox, programs, limits, signal };
  switch (hidden.kind) {
    case 'evalplus':
      return gradeEvalPlus({ ...common, hidden, entryPoint, slowCalls: mode === 'evalplus', expected: job.expected });
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
        store: job.expected,
        stopAfter: STOP_AFTER,
      });
      return results.map(summarise);
    }
  }
}
