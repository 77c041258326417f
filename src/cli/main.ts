import { CommanderError } from 'commander';
import { terminalLine, terminalSafe } from '../reports/terminal-safe.ts';
import { type Context, paint, processContext } from './context.ts';
import { explainError } from './explain-error.ts';
import { buildProgram } from './program.ts';
import { refuseUnknownCommand } from './refuse-unknown-command.ts';
import type { UserError } from './user-error.ts';

/** Runs one command line (without node and script) and returns its exit code; never throws, and leaves nothing open. */
export async function main(argv: readonly string[], given?: Context): Promise<number> {
  const verbose = argv.includes('--verbose');
  const context = { ...(given ?? processContext()), verbose };
  surviveClosedPipes(context);
  const result = { exitCode: 0 };
  try {
    const program = buildProgram(context, result);
    const plain = argv.filter((argument) => argument !== '--verbose');
    refuseUnknownCommand(program, plain);
    await program.parseAsync(plain, { from: 'user' });
    return result.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && ['commander.helpDisplayed', 'commander.version'].includes(error.code))
      return 0;
    // A group named without a command: commander has shown its help.
    if (error instanceof CommanderError && error.code === 'commander.help') return 2;
    const explained = explainError(error);
    report(context, explained, verbose);
    return explained.exitCode;
  }
}

function report(context: Context, error: UserError, verbose: boolean): void {
  const lines = [
    `${paint(context.stderr, ['red', 'bold'], 'error:')} ${error.details.length === 0 ? sentence(error.message) : `${terminalLine(error.message)}:`}`,
    ...error.details.map((detail) => `  ${terminalLine(detail)}`),
    sentence(error.remedy),
  ];
  if (verbose) lines.push(terminalSafe(stackOf(error.cause ?? error)));
  context.stderr.write(`${lines.join('\n')}\n`);
}

/** One line that ends in one full stop, and nothing that a terminal would obey. */
function sentence(text: string): string {
  const line = terminalLine(text.replaceAll(/\s*\n\s*/g, ' ').trim());
  return /[.?!]$/.test(line) ? line : `${line}.`;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

/** `qualityflow report x | head -1`: the reader has gone, and that is no failure. */
function surviveClosedPipes(context: Context): void {
  for (const stream of [context.stdout, context.stderr]) {
    if (stream.listeners('error').includes(ignoreClosedPipe)) continue;
    stream.on('error', ignoreClosedPipe);
  }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
