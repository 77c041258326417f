import { resolveDataDir } from '../problems/data-dir.ts';
import { terminalSafe } from '../reports/terminal-safe.ts';
import { startTemporal } from './connect.ts';
import { type Context, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';

/**
 * `dev`: returns when all of it serves; it runs on in the background. A worker that runs already stays as it is, unless another data
 * folder is named for it.
 */
export async function devCommand(input: { context: Context; dataDir?: string; json?: boolean }): Promise<ExitCode> {
  const { context } = input;
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const env = dataDir === undefined ? context.env : { ...context.env, QUALITYFLOW_DATA_DIR: dataDir };
  const dev = await startTemporal({ context, env, onlyWhenIdle: input.dataDir === undefined });
  if (input.json === true) {
    printJson(context, dev);
    return 0;
  }
  const ui = dev.uiUrl === '' ? [] : [`Temporal UI      ${dev.uiUrl}`];
  print(
    context,
    terminalSafe(
      [
        `Temporal         ${dev.address} (namespace ${dev.namespace})`,
        ...ui,
        `scripted model   ${dev.scriptedUrl}`,
        'Stop it by `qualityflow down`.',
      ].join('\n'),
    ),
  );
  return 0;
}
