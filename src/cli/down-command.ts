import { DRAIN_MS } from '../temporal/drain.ts';
import { devStatus, stopDev } from '../temporal/embedded/dev.ts';
import { type Context, note, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';

/** `down`: exit 0 also when nothing was running. */
export async function downCommand({ context, json }: { context: Context; json?: boolean }): Promise<ExitCode> {
  if ((await devStatus({ home: context.home })) !== undefined) {
    note(
      context,
      `Draining: model requests and sandbox jobs under way have ${DRAIN_MS / 1000} s to end; what is cut off then is done again by the next start.`,
    );
  }
  const stopped = await stopDev({ home: context.home });
  if (json === true) printJson(context, { stopped });
  else
    print(
      context,
      stopped ? 'Stopped. Sweeps that were running go on with `qualityflow dev`.' : 'Nothing was running.',
    );
  return 0;
}
