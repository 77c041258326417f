import type { AddCommand } from '../add-command.ts';

export const addDev: AddCommand = (program, context, result) => {
  program
    .command('dev')
    .description('start the embedded Temporal server and worker in the background, and say where they are')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'as JSON')
    .action(async (options) => {
      const { devCommand } = await import('../dev-command.ts');
      result.exitCode = await devCommand({ context, ...options });
    });
};
