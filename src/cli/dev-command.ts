import { resolveDataDir } from '../problems/data-dir.ts';
import { ensureDev } from '../temporal/embedded/dev.ts';
import { type Context, note, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';

/** `dev`: returns when all of it serves; it runs on in the background. */
export async function devCommand(input: { context: Context; dataDir?: string; json?: boolean }): Promise<ExitCode> {
  const { context } = input;
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const env = dataDir === undefined ? context.env : { ...context.env, QUALITYFLOW_DATA_DIR: dataDir };
  const dev = await ensureDev({ home: context.home, env, log: (line) => note(context, line) });
  if (input.json === true) {
    printJson(context, dev);
    return 0;
  }
  const ui = dev.uiUrl === '' ? [] : [`Temporal UI      ${dev.uiUrl}`];
  print(
    context,
    [
      `Temporal         ${dev.address} (namespace ${dev.namespace})`,
      ...ui,
      `scripted model   ${dev.scriptedUrl}`,
      'Stop it by `qualityflow down`.',
    ].join('\n'),
  );
  return 0;
}
