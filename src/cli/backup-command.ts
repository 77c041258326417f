import { resolve } from 'node:path';
import { terminalLine } from '../reports/terminal-safe.ts';
import { backUpStore } from '../store/backup.ts';
import { type Context, print, printJson } from './context.ts';
import { hasStore, storeFile } from './open-state.ts';
import { type ExitCode, UserError } from './user-error.ts';

/** `backup`: the store alone, because it alone decides what a resume does. */
export async function backupCommand(input: { context: Context; file: string; json?: boolean }): Promise<ExitCode> {
  const { context } = input;
  if (input.file === '') {
    throw new UserError({
      message: 'The name of the file for the backup is empty',
      remedy: 'Name a new file, such as `qualityflow backup store.db`',
      exitCode: 2,
    });
  }
  if (!hasStore(context)) {
    throw new UserError({
      message: `There is nothing to back up: ${storeFile(context)} does not exist`,
      remedy: 'Go to the folder where the sweeps were started, or set QUALITYFLOW_HOME',
      exitCode: 2,
    });
  }
  const to = resolve(context.cwd, input.file);
  backUpStore({ from: storeFile(context), to });
  if (input.json === true) printJson(context, { file: to });
  else
    print(
      context,
      terminalLine(
        `Written to ${to}. To restore it: \`qualityflow down\`, put it in the place of ${storeFile(context)}, remove the -wal and -shm files beside that, and \`qualityflow sweep resume\`.`,
      ),
    );
  return 0;
}
