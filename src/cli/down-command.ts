import { stopDev } from '../temporal/embedded/dev.ts';
import { type Context, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';

/** `down`: exit 0 also when nothing was running. */
export async function downCommand({ context, json }: { context: Context; json?: boolean }): Promise<ExitCode> {
  const stopped = await stopDev({ home: context.home });
  if (json === true) printJson(context, { stopped });
  else
    print(
      context,
      stopped ? 'Stopped. Sweeps that were running go on with `qualityflow dev`.' : 'Nothing was running.',
    );
  return 0;
}
