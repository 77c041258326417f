import { createHash } from 'node:crypto';
import type { Problem } from '../problems/problem.ts';
import { ProblemFileError } from '../problems/problem-file-error.ts';
import { canonicalTaskId } from '../problems/task-id.ts';
import type { Sample } from './sample.ts';
import { SamplesError } from './samples-error.ts';

/** A sample whose task is known. */
export interface PlannedSample {
  taskId: string;
  /** Its number among the samples of its task, in file order, from 0. */
  sample: number;
  where: string;
  /** Of task and program: two samples with one sha are graded once. */
  sha256: string;
}

export interface EvaluationPlan {
  samples: PlannedSample[];
  /** Whole programs by `sha256`. */
  programs: Map<string, string>;
}

/** The ids and the public view of the benchmark that the samples are graded as. */
interface Target {
  name: string;
  taskIds: readonly string[];
  problem(taskId: string): Problem;
}

const LISTED = 5;

/**
 * Finds the task of every sample and makes whole programs of completions.
 * `others`: id lists of the benchmarks that samples could be meant for; where the samples fit one of them exactly, or better, it is said.
 * @throws SamplesError when a sample is of no task of the benchmark, or the file is another benchmark's
 */
export function planEvaluation(input: {
  target: Target;
  samples: readonly Sample[];
  others: readonly { name: string; taskIds: readonly string[] }[];
}): EvaluationPlan {
  const { target, samples, others } = input;
  const ids = new Map<string, string | undefined>();
  for (const { task } of samples) if (!ids.has(task)) ids.set(task, idIn(target, task));
  refuseAnotherSet({ target, samples, others, ids });

  const seen = new Map<string, number>();
  const programs = new Map<string, string>();
  const problems = new Map<string, Problem>();
  const planned = samples.map((sample): PlannedSample => {
    const taskId = ids.get(sample.task);
    if (taskId === undefined) throw new Error(`no task for ${sample.where}`);
    const program = (sample.form === 'completion' ? promptOf(taskId) : '') + sample.text;
    const sha256 = createHash('sha256')
      .update(JSON.stringify([taskId, program]))
      .digest('hex');
    programs.set(sha256, program);
    const number = seen.get(taskId) ?? 0;
    seen.set(taskId, number + 1);
    return { taskId, sample: number, where: sample.where, sha256 };
  });
  return { samples: planned, programs };

  /** A prompt in prose is no part of a program; what follows it is the whole of it. */
  function promptOf(taskId: string): string {
    const problem = problems.get(taskId) ?? target.problem(taskId);
    problems.set(taskId, problem);
    return problem.form === 'completion' ? problem.statement : '';
  }
}

/** Whether the samples are of all tasks of the benchmark and of nothing else; then it does not matter what other benchmarks there are. */
export function coversExactly(target: Target, samples: readonly Sample[]): boolean {
  const ids = [...new Set(samples.map(({ task }) => task))].map((task) => idIn(target, task));
  return ids.every((id) => id !== undefined) && new Set(ids).size === target.taskIds.length;
}

function idIn(benchmark: { name: string; taskIds: readonly string[] }, task: string): string | undefined {
  try {
    return canonicalTaskId(benchmark, task);
  } catch (error) {
    if (error instanceof ProblemFileError) return undefined;
    throw error;
  }
}

function refuseAnotherSet(input: {
  target: Target;
  samples: readonly Sample[];
  others: readonly { name: string; taskIds: readonly string[] }[];
  ids: ReadonlyMap<string, string | undefined>;
}): void {
  const { target, samples, others, ids } = input;
  const unknown = samples.filter(({ task }) => ids.get(task) === undefined);
  const tasks = new Set([...ids].map(([task, id]) => id ?? task.trim().toLowerCase()));
  const size = `${target.taskIds.length} tasks of ${target.name}`;
  const fits = others.filter((other) => [...ids.keys()].every((task) => idIn(other, task) !== undefined));
  if (unknown.length > 0) {
    const [fit] = fits.toSorted((a, b) => a.taskIds.length - b.taskIds.length);
    const unknownTasks = new Set(unknown.map(({ task }) => task)).size;
    const rest = unknown.length - LISTED;
    throw new SamplesError(
      `The samples are of ${counted(tasks.size)}, of which ${unknownTasks} ${unknownTasks === 1 ? 'is' : 'are'} not among the ${size}, so nothing was graded`,
      fit === undefined
        ? `Its ids look like ${target.taskIds[0] ?? '(none)'}: remove the other samples, or name the benchmark that they are of`
        : `All of them are among the ${fit.taskIds.length} tasks of ${fit.name}: try --benchmark ${fit.name}`,
      [
        ...unknown.slice(0, LISTED).map(({ where, task }) => `${where}: ${JSON.stringify(task)}`),
        ...(rest > 0 ? [`and ${rest} more`] : []),
      ],
    );
  }
  if (tasks.size === target.taskIds.length) return;
  const whole = fits.find((other) => other.taskIds.length === tasks.size);
  if (whole === undefined) return;
  throw new SamplesError(
    `The samples are of exactly the ${whole.taskIds.length} tasks of ${whole.name}, not of the ${size}, so nothing was graded`,
    `Use --benchmark ${whole.name}; or leave one task out to grade them as a part of ${target.name}`,
  );
}

function counted(tasks: number): string {
  return `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
}
