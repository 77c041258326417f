import type { AddCommand } from '../add-command.ts';

export const addShow: AddCommand = (program, context, result) => {
  program
    .command('show <name> [task]')
    .description('every step of one problem: prompt, reply, extracted code, verdict, cost')
    .option('--sample <n>', 'which independent run', '0')
    .option('--steps', 'every step, also where these are many and the output is a terminal')
    .option('--full', 'whole prompts and replies')
    .option('--json', 'as JSON')
    .action(async (name, task, options) => {
      const { showCommand } = await import('../show-command.ts');
      result.exitCode = await showCommand({ context, name, task, ...options });
    });
};
