import type { AddCommand } from '../add-command.ts';

export const addWorker: AddCommand = (program, context, result) => {
  program
    .command('worker')
    .description('run a worker in the foreground, against the cluster of TEMPORAL_ADDRESS or the embedded server')
    .option('--role <roles>', 'control, model, sandbox, or several with commas', 'control,model,sandbox')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .action(async (options) => {
      const { workerCommand } = await import('../worker-command.ts');
      result.exitCode = await workerCommand({ context, ...options });
    });
};
