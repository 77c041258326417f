import { openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { canonicalTaskId } from '../problems/task-id.ts';
import { terminalSafe } from '../reports/terminal-safe.ts';
import { type Context, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';

/** `problems show`: the public view alone; hidden tests cannot be reached from here. */
export async function showProblemCommand(input: {
  context: Context;
  benchmark: string;
  task: string;
  dataDir?: string;
  json?: boolean;
}): Promise<ExitCode> {
  const { context } = input;
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const benchmark = await openBenchmark({ benchmark: input.benchmark, dataDir, home: context.home });
  const problem = benchmark.problem(canonicalTaskId(benchmark, input.task));
  if (input.json === true) {
    printJson(context, problem);
    return 0;
  }
  const tests = problem.visibleTests.map((test) =>
    test.kind === 'assert' ? test.source : `stdin ${JSON.stringify(test.stdin)} gives ${JSON.stringify(test.stdout)}`,
  );
  print(
    context,
    terminalSafe(
      [
        problem.taskId,
        '',
        problem.statement.trimEnd(),
        '',
        tests.length === 0 ? 'No visible test.' : 'Visible tests:',
        ...tests,
      ].join('\n'),
    ),
  );
  return 0;
}
