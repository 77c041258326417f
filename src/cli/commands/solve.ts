import type { AddCommand } from '../add-command.ts';

export const addSolve: AddCommand = (program, context, result) => {
  program
    .command('solve <problem>')
    .description('one problem: BENCHMARK/TASK (humaneval/3, mini/…), or a text file with a prompt of your own')
    .option('--entry-point <name>', 'function to write, when a prompt file does not define it')
    .option('--strategy <preset>', 'standard, relaxed, quality-flow, zero-shot or select', 'standard')
    .option('--model <name>', 'model, as its endpoint knows it; none is needed with --endpoint scripted')
    .option('--endpoint <alias|url>', 'default, scripted, or a base URL')
    .option('--api <kind>', 'chat, or completions for base models')
    .option('--max-tokens <n>', 'longest reply, in tokens')
    .option('--seed <n>', 'basis of the seeds sent with requests at a temperature above 0')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'story and program as JSON')
    .action(async (problem, options) => {
      const { solveCommand } = await import('../solve-command.ts');
      result.exitCode = await solveCommand({ context, problem, ...options });
    });
};
