import type { AddCommand } from '../add-command.ts';

export const addProblems: AddCommand = (program, context, result) => {
  const problems = program.command('problems').description('look at benchmarks and check own ones');

  problems
    .command('list [benchmark]')
    .description('the benchmarks, or the tasks of one')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'as JSON')
    .action(async (benchmark, options) => {
      const { listProblemsCommand } = await import('../problems-list.ts');
      result.exitCode = await listProblemsCommand({ context, benchmark, ...options });
    });

  problems
    .command('show <benchmark> <task>')
    .description('one task as a model may see it')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'as JSON')
    .action(async (benchmark, task, options) => {
      const { showProblemCommand } = await import('../problems-show.ts');
      result.exitCode = await showProblemCommand({ context, benchmark, task, ...options });
    });

  problems
    .command('lint <benchmark>')
    .description('check a benchmark or an own .jsonl file: lines, keys, ids, tests, reference solutions')
    .option('--no-run', 'do not run the reference solutions')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'as JSON')
    .action(async (benchmark, options) => {
      const { lintProblemsCommand } = await import('../problems-lint.ts');
      result.exitCode = await lintProblemsCommand({ context, benchmark, ...options });
    });
};
