import { CommanderError } from 'commander';
import { SamplesError } from '../evaluation/samples-error.ts';
import { type ExitCode, UserError } from './user-error.ts';

/**
 * Turns whatever a command threw into what a person reads. The parts' own errors carry a `remedy`; where the fault lies decides the
 * exit code. Anything else is a fault of the program, and says so.
 */
export function explainError(error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (error instanceof CommanderError) return usageError(error);
  if (error instanceof Error && 'remedy' in error && typeof error.remedy === 'string') {
    const { message, remedy } = error;
    const details = error instanceof SamplesError ? error.details : [];
    return new UserError({ message, remedy, details, exitCode: exitCodeOf(error), cause: error });
  }
  if (error instanceof Error && error.name === 'SandboxError') {
    return new UserError({
      message: error.message,
      remedy: 'Run `qualityflow doctor` to see what the sandbox lacks',
      exitCode: 3,
      cause: error,
    });
  }
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)) {
    return new UserError({ message: error.message, remedy: systemRemedy(error.code), exitCode: 3, cause: error });
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new UserError({
    message: `Unexpected failure: ${message}`,
    remedy: 'Run the command again with --verbose and report what it prints',
    exitCode: 1,
    cause: error,
  });
}

/** What the user named or wrote is 2; what the machine lacks is 3. */
function exitCodeOf(error: Error): ExitCode {
  if (error.name === 'StoreError' && 'kind' in error && error.kind === 'invalid') return 2;
  return ['EndpointError', 'ProblemFileError', 'SamplesError'].includes(error.name) ? 2 : 3;
}

function systemRemedy(code: string): string {
  if (code === 'ENOSPC') return 'Free some disk space and run the command again';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return 'Give this user the right to read and write there';
  return 'Correct that and run the command again';
}

/** Commander's message comes as `error: unknown option '--lmit'`, with its own suggestion on a second line. */
function usageError(error: CommanderError): UserError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = rest
    .join(' ')
    .trim()
    .replace(/^\((.*)\)$/, '$1');
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}`;
  const remedy = suggestion === '' ? 'Add --help to the command to see what it takes' : suggestion;
  return new UserError({ message, remedy, exitCode: 2, cause: error });
}
