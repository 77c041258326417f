import { resolve } from 'node:path';
import { gradeHidden } from '../grading/grade-hidden.ts';
import { runPool } from '../grading/run-pool.ts';
import { openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { readDatasetText } from '../problems/dataset-text.ts';
import { openHiddenTests } from '../problems/hidden.ts';
import type { HiddenTests } from '../problems/hidden-tests.ts';
import type { Problem } from '../problems/problem.ts';
import { selectTasks } from '../problems/select-tasks.ts';
import { canonicalTaskId } from '../problems/task-id.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Selection } from '../selection/methods.ts';
import { type BadLine, readProgramPools, readTestPools } from '../selection/pool-files.ts';
import { matrixLine, poolMatrix, testText, usableTests } from '../selection/pool-matrix.ts';
import type { MatrixFile } from '../selection/read-matrix.ts';
import type { Row } from '../selection/select-pool.ts';
import { type Context, note } from './context.ts';
import { UserError } from './user-error.ts';
import { withSandbox } from './with-sandbox.ts';

export interface TaskPool {
  taskId: string;
  file: MatrixFile;
}

/** Tasks in work at once: while one task's judge replays, another's programs run. */
const TASKS_AT_ONCE = 2;

/** Runs the programs of every task against its tests, and, with `grade`, against the benchmark's hidden tests. In the benchmark's order. */
export async function runPools(
  options: { context: Context; task?: string[]; grade: boolean; dataDir?: string },
  files: {
    benchmark: string;
    programs: string;
    tests: string;
    limit: number | undefined;
    /** Told of each task as soon as it is finished. */
    done: (pool: TaskPool) => void;
  },
): Promise<TaskPool[]> {
  const { context, grade } = options;
  const source = {
    benchmark: files.benchmark,
    dataDir: resolveDataDir({ flag: options.dataDir, env: context.env }),
    home: context.home,
  };
  const benchmark = await openBenchmark(source);
  const hidden = grade ? await openHiddenTests(source) : undefined;
  const tasks = {
    byId: (id: string) => benchmark.problem(canonicalTaskId(benchmark, id)),
    all: benchmark.taskIds.map((id) => benchmark.problem(id)),
  };
  const [programsPath, testsPath] = [resolve(context.cwd, files.programs), resolve(context.cwd, files.tests)];
  const programs = readProgramPools((await readDatasetText(programsPath)).text, tasks);
  const tests = readTestPools((await readDatasetText(testsPath)).text, tasks);
  refuse(programs.bad, files.programs);
  refuse(tests.bad, files.tests);

  const known = benchmark.taskIds.filter((id) => programs.pools.has(id));
  if (known.length === 0)
    throw new UserError({
      message: `${files.programs} holds no program`,
      remedy: 'Give at least one line with a program',
      exitCode: 2,
    });
  const chosen = selectTasks({
    benchmark: { name: files.programs, taskIds: known },
    tasks: options.task,
    limit: files.limit,
  });
  const stdio = chosen.find((taskId) => benchmark.problem(taskId).kind === 'stdio');
  if (stdio !== undefined)
    throw new UserError({
      message: `${stdio} reads standard input; select ranks functions by asserts`,
      remedy: 'Name other tasks with --task',
      exitCode: 2,
    });
  return withSandbox(context, async (sandbox) => {
    const done: TaskPool[] = [];
    const queue = [...chosen.entries()];
    const work = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [at, taskId] = next;
        const pool = await runTask({
          sandbox,
          problem: benchmark.problem(taskId),
          hidden: hidden?.hidden(taskId),
          programs: programs.pools.get(taskId) ?? [],
          tests: tests.pools.get(taskId) ?? new Map(),
        });
        done[at] = pool;
        files.done(pool);
        const given = tests.pools.get(taskId)?.size ?? 0;
        note(context, `${taskId}: ${describe(pool.file, given - pool.file.matrix.bits.columns)}`);
      }
    };
    await Promise.all(Array.from({ length: TASKS_AT_ONCE }, work));
    return done;
  });
}

export async function runTask(input: {
  sandbox: Sandbox;
  problem: Problem;
  hidden: HiddenTests | undefined;
  programs: string[];
  tests: Map<string, number>;
}): Promise<TaskPool> {
  const { sandbox, problem, hidden, programs } = input;
  const all = [...input.tests].map(([source, count]) => ({ test: { kind: 'assert' as const, source }, count }));
  const tests = usableTests({ tests: all, setup: problem.preamble, programs });
  const run = await runPool({ sandbox, problem, programs, tests: tests.map(({ test }) => testText(test)) });
  const file = poolMatrix({ problem, programs, tests, ...run });
  if (hidden === undefined) return { taskId: problem.taskId, file };
  const texts = [...new Set(programs)];
  const graded = await gradeHidden({ sandbox, problem, hidden, programs: texts });
  const right = new Set(texts.filter((_, at) => graded[at]?.verdict === 'pass'));
  return { taskId: problem.taskId, file: { ...file, correct: programs.map((source) => right.has(source)) } };
}

/** What `readMatrix` reads again, with the rankings beside it. */
export function poolLine(input: { taskId: string; file: MatrixFile; selections: Map<Row, Selection> }): object {
  const { taskId, file, selections } = input;
  return {
    ...matrixLine({ ...file, taskId }),
    rankings: Object.fromEntries([...selections].map(([name, { order }]) => [name, order])),
  };
}

function describe({ matrix: { bits }, correct }: MatrixFile, unusable: number): string {
  const right = correct === undefined ? '' : `, ${correct.filter(Boolean).length} right`;
  return `${bits.rows} programs${right}, ${bits.columns} tests${unusable === 0 ? '' : ` and ${unusable} that cannot be used`}`;
}

function refuse(bad: readonly BadLine[], path: string): void {
  const [first] = bad;
  if (first === undefined) return;
  throw new UserError({
    message: `${path} holds ${bad.length} ${bad.length === 1 ? 'line' : 'lines'} that cannot be used`,
    details: bad.slice(0, 5).map(({ line, message }) => `line ${line} ${message}`),
    remedy: 'See docs/selection.md for the forms of a line',
    exitCode: 2,
  });
}
