import { withRunningTemporal } from './connect.ts';
import { type Context, print, printJson } from './context.ts';
import { withSweep } from './open-state.ts';
import { cancelSweep } from './sweep-runs.ts';
import type { ExitCode } from './user-error.ts';

/** `sweep cancel`: asks and returns; problems in flight end within seconds. Exit 0 also when nothing was running. */
export function cancelSweepCommand({
  context,
  name,
  json,
}: {
  context: Context;
  name: string;
  json?: boolean;
}): Promise<ExitCode> {
  return withSweep<ExitCode>(context, name, () =>
    withRunningTemporal<ExitCode>(context, async (temporal) => {
      const cancelled = temporal !== undefined && (await cancelSweep(temporal.client, name));
      if (json === true) printJson(context, { sweep: name, cancelled });
      else if (cancelled)
        print(context, `Cancelling ${name}. What is finished stays; \`qualityflow sweep resume ${name}\` goes on.`);
      else print(context, `${name} is not running.`);
      return 0;
    }),
  );
}
