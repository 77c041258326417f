import type { AddCommand } from '../add-command.ts';

export const addDemo: AddCommand = (program, context, result) => {
  program
    .command('demo')
    .description('the whole thing on the bundled problems, offline, with a scripted model')
    .option('--yes', 'install system packages without asking')
    .option('--json', 'the two reports as JSON, one line each')
    .action(async (options) => {
      const { demoCommand } = await import('../demo-command.ts');
      result.exitCode = await demoCommand({ context, ...options });
    });
};
