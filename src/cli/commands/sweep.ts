import type { Command } from 'commander';
import type { AddCommand } from '../add-command.ts';
import { addSpecFlags, collected } from '../spec-flags.ts';

export const addSweep: AddCommand = (program, context, result) => {
  const sweep: Command = program
    .command('sweep')
    .description('run a sweep, and look after it')
    .showHelpAfterError(false);

  addSpecFlags(
    sweep
      .command('run')
      .description('run a sweep: a spec file, flags, or both (flags win)')
      .argument('[spec]', 'YAML file'),
  )
    .option('--fork <new>', 'the name is in use by a sweep of another spec: run this as the new sweep NEW')
    .option('--dry-run', 'say what would be sent, and send nothing')
    .option('--detach', 'start it and return at once')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'the report as JSON')
    .action(async (file, options) => {
      const { runSweepCommand } = await import('../sweep-run.ts');
      result.exitCode = await runSweepCommand({ context, file, ...options, flags: options });
    });

  sweep
    .command('resume <name>')
    .description('go on with what has no final outcome yet')
    .option('--fork <new>', 'conditions have changed: run its spec under the present ones as the new sweep NEW')
    .option('--budget-tokens <n>', 'hard cap on tokens, over all that the sweep has used and will use')
    .option('--budget-usd <amount>', 'the same in money, at the prices of the spec')
    .option('--problems <n>', 'problems at once')
    .option('--requests <n>', 'requests at once')
    .option('--detach', 'start it and return at once')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'the report as JSON')
    .action(async (name, options) => {
      const { resumeSweepCommand } = await import('../sweep-resume.ts');
      result.exitCode = await resumeSweepCommand({ context, name, ...options });
    });

  sweep
    .command('status <name>')
    .description('how a sweep stands')
    .option('--json', 'as JSON')
    .action(async (name, options) => {
      const { sweepStatusCommand } = await import('../sweep-status.ts');
      result.exitCode = await sweepStatusCommand({ context, name, ...options });
    });

  sweep
    .command('watch <name>')
    .description('follow a sweep until it ends; Ctrl-C leaves it running')
    .option('--json', 'the report as JSON')
    .action(async (name, options) => {
      const { watchSweepCommand } = await import('../sweep-watch.ts');
      result.exitCode = await watchSweepCommand({ context, name, ...options });
    });

  sweep
    .command('list')
    .description('all sweeps of this folder')
    .option('--all', 'those of `solve` too')
    .option('--json', 'as JSON')
    .action(async (options) => {
      const { listSweepsCommand } = await import('../sweep-list.ts');
      result.exitCode = await listSweepsCommand({ context, ...options });
    });

  sweep
    .command('pause <name>')
    .description('start nothing more for now; what is in flight finishes and is stored')
    .option('--json', 'as JSON')
    .action(async (name, options) => {
      const { pauseSweepCommand } = await import('../sweep-pause.ts');
      result.exitCode = await pauseSweepCommand({ context, name, ...options });
    });

  sweep
    .command('unpause <name>')
    .description('go on with a paused sweep, each problem at its step')
    .option('--json', 'as JSON')
    .action(async (name, options) => {
      const { unpauseSweepCommand } = await import('../sweep-pause.ts');
      result.exitCode = await unpauseSweepCommand({ context, name, ...options });
    });

  sweep
    .command('retry <name> <task>')
    .description('run one problem again that has no final outcome')
    .option('--sample <n>', 'which independent run', '0')
    .option('--force', 'also one with a final outcome: its stored replies are graded anew')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'as JSON')
    .action(async (name, task, options) => {
      const { retryProblemCommand } = await import('../sweep-retry.ts');
      result.exitCode = await retryProblemCommand({ context, name, task, ...options });
    });

  sweep
    .command('extend <name>')
    .description('more samples, tasks or tests of the same sweep; only the difference is run')
    .option('--samples <n>', 'independent runs a task')
    .option('--programs <n>', 'programs drawn a run (strategy select): a new sweep, which reuses those of this one')
    .option('--limit <n>', 'the first n tasks')
    .option('--task <id>', 'one more task of a sweep that lists its tasks; may be repeated', collected)
    .option(
      '--benchmark <name|file>',
      'other tests of the same tasks, such as humaneval+: a new sweep that grades the stored programs by them',
    )
    .option('--fork <new>', 'name of that new sweep (NAME-plus, with --programs NAME-N, when left out)')
    .option('--budget-tokens <n>', 'hard cap on tokens, over all that the sweep has used and will use')
    .option('--budget-usd <amount>', 'the same in money, at the prices of the spec')
    .option('--detach', 'start it and return at once')
    .option('--data-dir <folder>', 'where the benchmark files are')
    .option('--json', 'the report as JSON')
    .action(async (name, options) => {
      const { extendSweepCommand } = await import('../sweep-extend.ts');
      result.exitCode = await extendSweepCommand({ context, name, ...options });
    });

  sweep
    .command('cancel <name>')
    .description('stop a sweep; what is finished stays, and `resume` goes on')
    .option('--json', 'as JSON')
    .action(async (name, options) => {
      const { cancelSweepCommand } = await import('../sweep-cancel.ts');
      result.exitCode = await cancelSweepCommand({ context, name, ...options });
    });
};
