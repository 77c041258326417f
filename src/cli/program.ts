import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { AddCommand, Result } from './add-command.ts';
import { addBackup } from './commands/backup.ts';
import { addDemo } from './commands/demo.ts';
import { addDev } from './commands/dev.ts';
import { addDoctor } from './commands/doctor.ts';
import { addDown } from './commands/down.ts';
import { addEvaluate } from './commands/evaluate.ts';
import { addProblems } from './commands/problems.ts';
import { addReport } from './commands/report.ts';
import { addSelect } from './commands/select.ts';
import { addSetup } from './commands/setup.ts';
import { addShow } from './commands/show.ts';
import { addSolve } from './commands/solve.ts';
import { addSweep } from './commands/sweep.ts';
import { addWorker } from './commands/worker.ts';
import type { Context } from './context.ts';

const COMMANDS: readonly AddCommand[] = [
  addSetup,
  addDoctor,
  addDev,
  addDown,
  addWorker,
  addDemo,
  addSweep,
  addSolve,
  addShow,
  addReport,
  addSelect,
  addEvaluate,
  addProblems,
  addBackup,
];

export function buildProgram(context: Context, result: Result): Command {
  const program = new Command('qualityflow')
    .description('Durable program synthesis and evaluation of code models, orchestrated by Temporal')
    .version(version(), '--version', 'version of this program')
    .option('--verbose', 'stack traces with errors, logs of a worker (anywhere on the line)')
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      // `main` says what is wrong, in its own form.
      outputError: () => {},
    });
  for (const add of COMMANDS) add(program, context, result);
  return program;
}

/** From `package.json`, which stands two folders above both `src/cli` and `dist/cli`. */
function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}
