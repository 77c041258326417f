import type { AddCommand } from '../add-command.ts';

export const addDoctor: AddCommand = (program, context, result) => {
  program
    .command('doctor')
    .description('check the environment, and prove the grader: right programs pass, wrong ones do not')
    .option('--json', 'as JSON')
    .action(async (options) => {
      const { doctorCommand } = await import('../doctor-command.ts');
      result.exitCode = await doctorCommand({ context, ...options });
    });
};
