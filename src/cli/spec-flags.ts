import { type Command, Option } from 'commander';

/** Reader of an option that may be repeated. */
export function collected(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** Adds the flags that describe a sweep (`SpecFlags`). */
export function addSpecFlags(command: Command): Command {
  return command
    .option('--name <name>', 'name of the sweep (made up when only flags are given)')
    .option(
      '--benchmark <name|file>',
      'humaneval, humaneval+, mbpp, mbpp-sanitized, mbpp+, mini, or an own .jsonl file',
    )
    .option('--task <id>', 'only this task; may be repeated', collected)
    .option('--limit <n>', 'only the first n tasks')
    .option('--shuffle <seed>', 'shuffle the tasks before the limit')
    .option('--samples <n>', 'independent runs a task')
    .option('--seed <n>', 'basis of the seeds sent with requests at a temperature above 0')
    .option('--strategy <preset>', 'standard, relaxed, quality-flow, zero-shot or select')
    .option('--model <name>', 'model, as its endpoint knows it; none is needed with --endpoint scripted')
    .option('--endpoint <alias|url>', 'default, scripted, or a base URL')
    .option('--api <kind>', 'chat, or completions for base models')
    .option('--max-tokens <n>', 'longest reply, in tokens')
    .option('--problems <n>', 'problems at once')
    .option('--requests <n>', 'requests at once')
    .addOption(new Option('--concurrency <n>', 'the same as --problems').conflicts('problems').hideHelp())
    .option('--budget-tokens <n>', 'hard cap on tokens, over the whole sweep')
    .option('--budget-usd <amount>', 'hard cap on money; needs prices in the spec');
}
