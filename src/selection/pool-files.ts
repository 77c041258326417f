import { z } from 'zod';
import type { Problem } from '../problems/problem.ts';
import { cutCompletion, testsOfSamples } from './codet-samples.ts';

/** A line that cannot be used: its number, from 1, and what is wrong. */
export interface BadLine {
  line: number;
  message: string;
}

interface Tasks {
  /** Finds the task of a line by what it calls itself; undefined for a task that is not wanted. Throws for one that does not exist. */
  byId(id: string): Problem | undefined;
  all: readonly Problem[];
}

const named = { task_id: z.string().optional(), prompt: z.string().optional() };
const programLine = z.union([
  z.object({ ...named, samples: z.array(z.string()) }),
  z.object({ ...named, solution: z.string() }),
  z.object({ ...named, completion: z.string() }),
]);
const testLine = z.union([
  z.object({ ...named, samples: z.array(z.string()) }),
  z.object({ ...named, tests: z.array(z.string()) }),
  z.object({ ...named, test: z.string() }),
]);

/**
 * Programs by task id, in order. A line is one program (`{"task_id", "solution"}`: whole; `{"task_id", "completion"}`: goes on after the
 * task's statement) or all of a task as CodeT releases them (`{"prompt", "samples"}`: completions, cut where something new begins).
 */
export function readProgramPools(text: string, tasks: Tasks): { pools: Map<string, string[]>; bad: BadLine[] } {
  const pools = new Map<string, string[]>();
  const bad = eachLine(text, programLine, tasks, (value, problem) => {
    const pool = pools.get(problem.taskId) ?? [];
    pools.set(problem.taskId, pool);
    if ('samples' in value)
      for (const sample of value.samples) pool.push((value.prompt ?? problem.statement) + cutCompletion(sample));
    else pool.push('solution' in value ? value.solution : problem.statement + value.completion);
  });
  return { pools, bad };
}

/**
 * Distinct tests by task id, in order, with how often each came. A line is `{"task_id", "test"}`, `{"task_id", "tests"}` or CodeT's
 * `{"prompt", "samples"}`.
 */
export function readTestPools(text: string, tasks: Tasks): { pools: Map<string, Map<string, number>>; bad: BadLine[] } {
  const pools = new Map<string, Map<string, number>>();
  const bad = eachLine(text, testLine, tasks, (value, problem) => {
    const pool = pools.get(problem.taskId) ?? new Map<string, number>();
    pools.set(problem.taskId, pool);
    const count = (test: string, times: number) => pool.set(test, (pool.get(test) ?? 0) + times);
    if ('samples' in value)
      for (const [test, times] of testsOfSamples({ samples: value.samples, entryPoint: problem.entryPoint }))
        count(test, times);
    else for (const test of 'tests' in value ? value.tests : [value.test]) count(test.trim(), 1);
  });
  return { pools, bad };
}

function eachLine<T extends { task_id?: string | undefined; prompt?: string | undefined }>(
  text: string,
  schema: z.ZodType<T>,
  tasks: Tasks,
  use: (value: T, problem: Problem) => void,
): BadLine[] {
  const bad: BadLine[] = [];
  text.split('\n').forEach((raw, index) => {
    if (raw.trim() === '') return;
    const line = index + 1;
    let json: unknown;
    try {
      json = JSON.parse(raw);
    } catch {
      bad.push({ line, message: 'is no JSON' });
      return;
    }
    const checked = schema.safeParse(json);
    if (!checked.success) {
      bad.push({ line, message: 'has none of the known forms' });
      return;
    }
    const { task_id: id, prompt } = checked.data;
    if (id === undefined && prompt === undefined) {
      bad.push({ line, message: 'names no task: it has neither "task_id" nor "prompt"' });
      return;
    }
    const problem = id !== undefined ? tasks.byId(id) : byPrompt(prompt ?? '', tasks.all);
    if (problem !== undefined) use(checked.data, problem);
    else if (id === undefined) bad.push({ line, message: 'has the prompt of no task of this benchmark' });
  });
  return bad;
}

/**
 * The task of a prompt that was made from its statement (examples left out, something put after it): among those whose entry point is the
 * function that the prompt defines last, the one that agrees with it longest.
 */
function byPrompt(prompt: string, problems: readonly Problem[]): Problem | undefined {
  const name = [...prompt.matchAll(/^def\s+(\w+)/gm)].at(-1)?.[1];
  let best: { problem: Problem; shared: number } | undefined;
  for (const problem of problems) {
    if (problem.entryPoint !== name) continue;
    const shared = sharedPrefix(prompt, problem.statement);
    if (best === undefined || shared > best.shared) best = { problem, shared };
  }
  return best?.problem;
}

function sharedPrefix(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
