import type { AddCommand } from '../add-command.ts';

export const addBackup: AddCommand = (program, context, result) => {
  program
    .command('backup')
    .description('copy the store of this folder into a new file, also while sweeps run')
    .argument('<file>', 'the new file')
    .option('--json', 'as JSON')
    .action(async (file, options) => {
      const { backupCommand } = await import('../backup-command.ts');
      result.exitCode = await backupCommand({ context, file, ...options });
    });
};
