import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { BENCHMARKS } from '../problems/problem.ts';
import { definedFunctions } from '../problems/python-source.ts';
import { suggest } from '../problems/suggest.ts';
import { locateBenchmark } from '../spec/parse-spec.ts';
import type { Context } from './context.ts';
import { UserError } from './user-error.ts';

/** One task of a benchmark. `graded`: false where nothing hidden exists to grade by, so that no verdict may be claimed. */
export interface SolveTarget {
  benchmark: string;
  task: string;
  graded: boolean;
}

/**
 * `mini/word-count`, `humaneval/3`, `humaneval/HumanEval/3` and `own.jsonl/id` name a task; any other path is a prompt file, which
 * becomes an own problem in the state folder.
 */
export async function solveTarget({
  context,
  problem,
  entryPoint,
}: {
  context: Context;
  problem: string;
  entryPoint?: string | undefined;
}): Promise<SolveTarget> {
  const own = /^(.*?\.jsonl(?:\.gz)?)\/(.+)$/i.exec(problem);
  if (own?.[1] !== undefined && own[2] !== undefined)
    return { benchmark: locateBenchmark(own[1], context.cwd), task: own[2], graded: true };
  const slash = problem.indexOf('/');
  const first = slash === -1 ? problem : problem.slice(0, slash);
  const benchmark = BENCHMARKS.find((name) => name === first);
  if (benchmark !== undefined && slash !== -1) return { benchmark, task: problem.slice(slash + 1), graded: true };

  const path = resolve(context.cwd, problem);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true) return promptTarget({ context, path, entryPoint });
  const near = slash === -1 ? undefined : suggest(first, BENCHMARKS);
  throw new UserError({
    message: `${JSON.stringify(problem)} is neither a task nor a file`,
    remedy:
      near === undefined
        ? `Name a task as BENCHMARK/TASK (${BENCHMARKS.join(', ')}) or the path of a text file`
        : `Did you mean "${near}/${problem.slice(slash + 1)}"?`,
    exitCode: 2,
  });
}

/** Larger than any prompt a model reads; what is longer is no prompt. */
const MAX_PROMPT_BYTES = 1 << 20;

async function promptTarget({
  context,
  path,
  entryPoint,
}: {
  context: Context;
  path: string;
  entryPoint: string | undefined;
}): Promise<SolveTarget> {
  const bytes = await readFile(path);
  if (bytes.length > MAX_PROMPT_BYTES || bytes.includes(0) || bytes.toString('utf8').trim() === '') {
    throw new UserError({
      message: `${path} is no prompt: it is empty, binary, or larger than 1 MB`,
      remedy: 'Write the problem as plain text',
      exitCode: 2,
    });
  }
  const statement = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
  const defined = [...definedFunctions(statement)];
  const name = entryPoint ?? defined.at(-1);
  if (name === undefined || !/^[A-Za-z_]\w*$/.test(name)) {
    throw new UserError({
      message:
        name === undefined
          ? `${path} does not say which function to write`
          : `${JSON.stringify(name)} is no name of a function`,
      remedy: 'Name it by --entry-point NAME, or end the file in its `def` line and docstring',
      exitCode: 2,
    });
  }
  const completion = defined.includes(name);
  const asserts = statement.split('\n').filter((line) => /^\s*assert\b/.test(line));
  const task = {
    task_id: basename(path).replaceAll(/[^\w.-]+/g, '-'),
    entry_point: name,
    form: completion ? 'completion' : 'description',
    prompt: statement,
    ...(completion ? {} : { visible_tests: asserts.map((line) => line.trim()) }),
    // There is nothing to grade by, and this is no test: it calls nothing, so grading says `invalid_test`, never `pass`.
    hidden_tests: ['assert True'],
  };
  const line = `${JSON.stringify(task)}\n`;
  const folder = join(context.home, 'prompts');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${createHash('sha256').update(line).digest('hex').slice(0, 16)}.jsonl`);
  await writeFile(file, line);
  return { benchmark: file, task: task.task_id, graded: false };
}
