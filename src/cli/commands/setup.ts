import type { AddCommand } from '../add-command.ts';

export const addSetup: AddCommand = (program, context, result) => {
  program
    .command('setup')
    .description('get Temporal, the sandbox image and Docker ready; says what it does, and does nothing twice')
    .option('--yes', 'install system packages without asking')
    .option('--json', 'what was done, as JSON')
    .action(async (options) => {
      const { setupCommand } = await import('../setup-command.ts');
      result.exitCode = await setupCommand({ context, ...options });
    });
};
