import { z } from 'zod';
import type { Graded } from '../grading/verdict.ts';
import { counted } from '../reports/terminal.ts';
import type { PlannedSample } from './plan-evaluation.ts';

const verdict = z.enum(['pass', 'wrong', 'error', 'timeout', 'memory_limit', 'output_limit', 'invalid_test']);

/** What one program got, whoever handed it in. `infra`: the machine failed twice; not final, and graded again by the next run. */
const grade = z.object({
  verdict: z.union([verdict, z.literal('infra')]),
  /** EvalPlus benchmarks: over the base tests alone, and over base and plus tests together; null elsewhere. */
  base: verdict.nullable(),
  plus: verdict.nullable(),
  /** The reason in one line. */
  detail: z.string(),
  tests: z.int().nonnegative(),
  passed: z.int().nonnegative(),
  firstFailure: z
    .object({
      status: z.string(),
      test: z.string(),
      actual: z.string().optional(),
      expected: z.string().optional(),
      exception: z.string().optional(),
    })
    .nullable(),
  /** The verdict rests on a test that ran in the program's own process. */
  forgeable: z.boolean(),
  /** Some test up to the one that decided used more than three quarters of its time: on another day it may be a timeout. */
  nearLimit: z.boolean().default(false),
});
export type Grade = z.infer<typeof grade>;

/** One line of a results file. */
export const resultLine = grade.extend({
  task_id: z.string(),
  sample: z.int().nonnegative(),
  where: z.string(),
  limits: z.enum(['evalplus', 'own']),
  sha256: z.string(),
  grader: z.string(),
});
export type ResultLine = z.infer<typeof resultLine>;

export function lineOf(sample: PlannedSample, grade: Grade, stamp: Pick<ResultLine, 'limits' | 'grader'>): ResultLine {
  const { taskId, where, sha256 } = sample;
  const { verdict, base, plus, detail, ...rest } = grade;
  return { task_id: taskId, sample: sample.sample, verdict, base, plus, detail, ...rest, where, ...stamp, sha256 };
}

export function gradeOf(graded: Graded): Grade {
  const { verdict, base, tests, passed, firstFailure } = graded;
  return {
    verdict,
    base: base ?? null,
    plus: base === undefined ? null : verdict,
    detail: reason(graded),
    tests,
    passed,
    firstFailure:
      firstFailure === undefined
        ? null
        : {
            status: firstFailure.status,
            test: firstFailure.test,
            ...(firstFailure.actual === undefined ? {} : { actual: firstFailure.actual }),
            ...(firstFailure.expected === undefined ? {} : { expected: firstFailure.expected }),
            ...(firstFailure.exception === undefined ? {} : { exception: firstFailure.exception }),
          },
    forgeable: graded.forgeable === true,
    nearLimit: graded.nearLimit === true,
  };
}

export function infraGrade(message: string): Grade {
  return {
    verdict: 'infra',
    base: null,
    plus: null,
    detail: message,
    tests: 0,
    passed: 0,
    firstFailure: null,
    forgeable: false,
    nearLimit: false,
  };
}

function reason({ verdict, tests, passed, firstFailure: failure }: Graded): string {
  if (verdict === 'pass') return `passes ${counted(tests, 'test')}`;
  if (failure === undefined) return `${passed} of ${counted(tests, 'test')} passed`;
  const { test, actual, expected, exception } = failure;
  const got = exception ?? (actual === undefined ? failure.status : `got ${actual}`);
  const wanted = exception === undefined && expected !== undefined ? `, expected ${expected}` : '';
  return `${test}: ${got}${wanted}`;
}
