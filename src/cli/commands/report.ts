import type { AddCommand } from '../add-command.ts';

export const addReport: AddCommand = (program, context, result) => {
  program
    .command('report <name...>')
    .description('the results of one sweep, or of several one after another')
    .option('--json', 'as JSON, one line a sweep')
    .action(async (names, options) => {
      const { reportCommand } = await import('../report-command.ts');
      result.exitCode = await reportCommand({ context, names, ...options });
    });
};
