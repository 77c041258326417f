import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ExpectedStore } from '../grading/expected-outputs.ts';
import type { LimitsMode } from '../grading/limits.ts';
import type { Benchmark } from '../problems/benchmark.ts';
import type { HiddenBenchmark } from '../problems/hidden.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { MUTANTS, mutantOf } from './mutants.ts';
import { planEvaluation } from './plan-evaluation.ts';
import type { Grade } from './result-line.ts';
import { runEvaluation } from './run-evaluation.ts';
import type { Sample } from './sample.ts';

/** A program that is known to get another verdict than its name promises, and why that is the benchmark's doing and not the grader's. */
const knownExceptions = z.array(
  z.strictObject({
    benchmark: z.string(),
    task: z.string(),
    program: z.enum(['canonical', ...MUTANTS]),
    /** The test that decides. */
    test: z.string(),
    reason: z.string(),
  }),
);

export interface Certification {
  /** Canonical solutions and mutants that were graded. */
  canonical: number;
  mutants: number;
  /** Of these, listed exceptions that did come out so. */
  exceptions: number;
  /** One line each; empty when the environment can be trusted with this benchmark. */
  failures: string[];
}

/** Grades every canonical solution, which must pass, and mutants of it, which must not. */
export async function certify(job: {
  sandbox: Sandbox;
  benchmark: Benchmark;
  sealed: HiddenBenchmark;
  limits: LimitsMode;
  expected: ExpectedStore;
  concurrency: number;
  signal: AbortSignal;
  onGrades: (count: number) => void;
}): Promise<Certification> {
  const { benchmark, sealed } = job;
  const samples = benchmark.taskIds.flatMap((task): Sample[] => {
    const { canonical } = sealed.hidden(task);
    if (canonical.trim() === '') return [];
    const problem = benchmark.problem(task);
    const programs = [
      ['canonical', canonical],
      ...MUTANTS.map((mutant) => [mutant, mutantOf(problem, canonical, mutant)]),
    ];
    return programs.map(([where = '', text = '']) => ({ task, form: 'solution', text, where }));
  });
  const plan = planEvaluation({ target: benchmark, samples, others: [] });
  const grades = new Map<string, Grade>();
  await runEvaluation({
    ...job,
    plan,
    known: new Map(),
    onGrades(found) {
      for (const [sha, grade] of found) grades.set(sha, grade);
      job.onGrades(found.size);
    },
  });

  const listed = readKnownExceptions().filter((known) => known.benchmark === benchmark.name);
  const result: Certification = { canonical: 0, mutants: 0, exceptions: 0, failures: [] };
  for (const { taskId, where: program, sha256 } of plan.samples) {
    const verdict = grades.get(sha256)?.verdict ?? 'infra';
    if (program === 'canonical') result.canonical++;
    else result.mutants++;
    if (verdict !== 'infra' && (verdict === 'pass') === (program === 'canonical')) continue;
    const known = listed.some((exception) => exception.task === taskId && exception.program === program);
    if (known && verdict !== 'infra') result.exceptions++;
    else result.failures.push(failureLine(taskId, program, verdict, grades.get(sha256)));
  }
  return result;
}

function failureLine(taskId: string, program: string, verdict: string, grade: Grade | undefined): string {
  const what = program === 'canonical' ? 'the canonical solution' : `a program that ${program}`;
  return `${taskId}: ${what} got ${verdict}${grade === undefined || verdict === 'pass' ? '' : ` (${grade.detail})`}`;
}

function readKnownExceptions(): z.infer<typeof knownExceptions> {
  const path = join(import.meta.dirname, 'known-exceptions.json');
  return knownExceptions.parse(JSON.parse(readFileSync(path, 'utf8')));
}
