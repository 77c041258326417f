import type { AddCommand } from '../add-command.ts';

export const addDown: AddCommand = (program, context, result) => {
  program
    .command('down')
    .description('drain and stop the embedded server and worker; sweeps go on when they are started again')
    .option('--json', 'as JSON')
    .action(async (options) => {
      const { downCommand } = await import('../down-command.ts');
      result.exitCode = await downCommand({ context, ...options });
    });
};
