import type { AddCommand } from '../add-command.ts';

export const addReport: AddCommand = (program, context, result) => {
  program
    .command('report <name...>')
    .description('the results of one sweep, or of several one after another')
    .option('--tasks', 'every run instead of the tables: outcome, step at which it ended, why')
    .option('--outcome <names>', 'only runs of these outcomes, such as wrong,infra (with --tasks or --json)')
    .option('--json', 'as JSON, one line a sweep; its `tasks` has every run')
    .action(async (names, options) => {
      const { reportCommand } = await import('../report-command.ts');
      result.exitCode = await reportCommand({ context, names, ...options });
    });
};
