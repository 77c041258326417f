import { headline, type TaskProgress } from '../statistics/headline.ts';
import { meanPassAtK } from '../statistics/pass-at-k.ts';
import type { ResultLine } from './result-line.ts';

type PassAt = Record<string, number | null>;

interface Score {
  /** Over the tasks that were attempted. */
  passAt: PassAt;
  /** Over all tasks of the benchmark: one that was not attempted is not solved. */
  passAtOfTotal: PassAt;
}

export interface EvaluationSummary extends Score {
  benchmark: string;
  datasetSha256: string;
  /** Tasks of the benchmark. */
  total: number;
  /** Tasks with a sample. */
  attempted: number;
  samples: number;
  /** Different programs, each graded once. */
  programs: number;
  /** EvalPlus benchmarks: base tests alone, and base and plus together; null elsewhere. */
  base: Score | null;
  plus: Score | null;
  /** Samples by verdict. */
  verdicts: Record<string, number>;
  /** Passes that rest on a test which ran in the program's own process, and so could be forged. */
  forgeable: number;
  /** Samples whose verdict may turn into a timeout on a slower day. */
  nearLimit: number;
  /** Samples that the machine could not grade: in no score, and the interval of pass@1 between "all of them fail" and "all of them pass". */
  infra: number;
  interval: { low: number; high: number } | null;
  limits: string;
  grader: string;
}

/** Pass@k by the unbiased estimator; null where a task has fewer than k samples. */
export function summariseEvaluation(input: {
  benchmark: { name: string; sha256: string; size: number };
  lines: readonly ResultLine[];
  ks: readonly number[];
  limits: string;
  grader: string;
}): EvaluationSummary {
  const { benchmark, lines, ks, limits, grader } = input;
  const verdicts: Record<string, number> = {};
  for (const { verdict } of lines) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  const score = (passes: (line: ResultLine) => boolean) => scoreOf({ lines, passes, ks, total: benchmark.size });
  const overall = score(({ verdict }) => verdict === 'pass');
  const extended = lines.some(({ base }) => base !== null);
  const infra = verdicts.infra ?? 0;
  const bounds = headline(
    progressOf(lines, ({ verdict }) => verdict === 'pass'),
    1,
  );
  return {
    benchmark: benchmark.name,
    datasetSha256: benchmark.sha256,
    total: benchmark.size,
    attempted: new Set(lines.map(({ task_id }) => task_id)).size,
    samples: lines.length,
    programs: new Set(lines.map(({ sha256 }) => sha256)).size,
    ...overall,
    base: extended ? score(({ base }) => base === 'pass') : null,
    plus: extended ? score(({ plus }) => plus === 'pass') : null,
    verdicts,
    forgeable: lines.filter(({ verdict, forgeable }) => verdict === 'pass' && forgeable).length,
    nearLimit: lines.filter(({ nearLimit }) => nearLimit).length,
    infra,
    interval: infra === 0 || bounds === null ? null : { low: bounds.low, high: bounds.high },
    limits,
    grader,
  };
}

function scoreOf(input: {
  lines: readonly ResultLine[];
  passes: (line: ResultLine) => boolean;
  ks: readonly number[];
  total: number;
}): Score {
  const { lines, passes, ks, total } = input;
  const tasks = progressOf(lines, passes)
    .map(({ n, c, open }) => ({ n: n - open, c }))
    .filter(({ n }) => n > 0);
  const passAt: PassAt = {};
  const passAtOfTotal: PassAt = {};
  for (const k of ks) {
    const value = meanPassAtK(tasks, k);
    passAt[k] = value;
    passAtOfTotal[k] = value === null ? null : (value * tasks.length) / total;
  }
  return { passAt, passAtOfTotal };
}

function progressOf(lines: readonly ResultLine[], passes: (line: ResultLine) => boolean): TaskProgress[] {
  const tasks = new Map<string, TaskProgress>();
  for (const line of lines) {
    const task = tasks.get(line.task_id) ?? { n: 0, c: 0, open: 0 };
    task.n++;
    if (line.verdict === 'infra') task.open++;
    else if (passes(line)) task.c++;
    tasks.set(line.task_id, task);
  }
  return [...tasks.values()];
}
