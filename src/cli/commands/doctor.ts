import type { AddCommand } from '../add-command.ts';

export const addDoctor: AddCommand = (program, context, result) => {
  program
    .command('doctor')
    .description('check the environment, and prove the grader: right programs pass, wrong ones do not')
    .option(
      '--certify [benchmark...]',
      'grade canonical solutions, and mutants of them, of these benchmarks (all that are here)',
    )
    .option('--json', 'as JSON')
    .action(async (options) => {
      if (options.certify !== undefined) {
        const { certifyCommand } = await import('../certify-command.ts');
        const benchmarks = options.certify === true ? [] : options.certify;
        result.exitCode = await certifyCommand({ context, benchmarks, json: options.json === true });
        return;
      }
      const { doctorCommand } = await import('../doctor-command.ts');
      result.exitCode = await doctorCommand({ context, ...options });
    });
};
