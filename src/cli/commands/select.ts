import type { AddCommand } from '../add-command.ts';

export const addSelect: AddCommand = (program, context, result) => {
  program
    .command('select')
    .description(
      'rank programs by the tests they pass: of a pass matrix, of a sweep, or of programs and tests that are run here',
    )
    .option('--matrix <file>', 'pass matrix as JSON, or one a line as .jsonl (plain or gzip)')
    .option(
      '--sweep <name>',
      'a sweep of this folder: its matrices (strategy select), or its programs and designed tests',
    )
    .option('--benchmark <name>', 'whose tasks the programs solve: humaneval, mbpp+, … or an own .jsonl')
    .option(
      '--programs <file>',
      'JSONL, plain or gzip: {"task_id","solution"}, {"task_id","completion"} or {"prompt","samples"}',
    )
    .option('--tests <file>', 'JSONL, plain or gzip: {"task_id","tests"}, {"task_id","test"} or {"prompt","samples"}')
    .option('--method <names>', 'comma-separated: aces-o, aces-c, codet, majority, mbr-exec, srank, b4, random (all)')
    .option(
      '--prefilter <kind>',
      'static: rank a second time without programs that cannot be right by their text alone',
    )
    .option('--k <numbers>', 'comma-separated k of pass@k', '1,2,5,10')
    .option('--seed <n>', 'of everything drawn at random', '0')
    .option('--limit <n>', 'first tasks only')
    .option('--task <id...>', 'these tasks only')
    .option('--no-grade', 'do not run the hidden tests: rank only')
    .option('--diagnose', 'how good the tests are, measured with the labels after ranking')
    .option('--keep <file>', 'write matrices, labels and rankings, a line a task; --matrix reads them again')
    .option('--picture <file>', 'write matrices and curves as one HTML file')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'as JSON')
    .action(async (options) => {
      const { selectCommand } = await import('../select-command.ts');
      result.exitCode = await selectCommand({ context, ...options });
    });
};
