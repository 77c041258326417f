import { openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { BENCHMARKS } from '../problems/problem.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { type Context, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';

/** `problems list`: names of benchmarks, or canonical ids of one with its number of visible tests. */
export async function listProblemsCommand(input: {
  context: Context;
  benchmark?: string;
  dataDir?: string;
  json?: boolean;
}): Promise<ExitCode> {
  const { context, json } = input;
  if (input.benchmark === undefined) {
    if (json === true) printJson(context, BENCHMARKS);
    else print(context, BENCHMARKS.join('\n'));
    return 0;
  }
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const benchmark = await openBenchmark({ benchmark: input.benchmark, dataDir, home: context.home });
  const tasks = benchmark.taskIds.map((taskId) => {
    const { kind, entryPoint, visibleTests } = benchmark.problem(taskId);
    return { taskId, kind, entryPoint, visibleTests: visibleTests.length };
  });
  if (json === true) {
    printJson(context, { benchmark: benchmark.name, sha256: benchmark.sha256, size: benchmark.size, tasks });
    return 0;
  }
  const width = Math.max(...tasks.map(({ taskId }) => terminalLine(taskId).length));
  const lines = tasks.map(
    (task) =>
      `${terminalLine(task.taskId).padEnd(width)}  ${terminalLine(task.entryPoint || task.kind)}  ${task.visibleTests} visible`,
  );
  print(context, lines.join('\n'));
  return 0;
}
