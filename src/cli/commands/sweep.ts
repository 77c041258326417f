import type { Command } from 'commander';
import type { AddCommand } from '../add-command.ts';
import { addSpecFlags } from '../spec-flags.ts';

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
    .option('--json', 'as JSON')
    .action(async (options) => {
      const { listSweepsCommand } = await import('../sweep-list.ts');
      result.exitCode = await listSweepsCommand({ context, ...options });
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
