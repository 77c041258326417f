import { withRunningTemporal } from './connect.ts';
import { type Context, note } from './context.ts';
import { followSweep } from './follow-sweep.ts';
import { withSweep } from './open-state.ts';
import { showResult } from './sweep-result.ts';
import type { ExitCode } from './user-error.ts';

/** `sweep watch`: follows a running sweep; of one that does not run it shows the report and how to go on. */
export function watchSweepCommand({
  context,
  name,
  json,
}: {
  context: Context;
  name: string;
  json?: boolean;
}): Promise<ExitCode> {
  return withSweep<ExitCode>(context, name, (store, sweep) =>
    withRunningTemporal<ExitCode>(context, async (temporal) => {
      if (temporal === undefined) note(context, 'Neither Temporal nor a worker runs here; this is what is stored.');
      const followed =
        temporal === undefined
          ? ({ kind: 'ended', run: 'absent' } as const)
          : await followSweep({ context, store, client: temporal.client, sweep });
      return showResult({ context, store, sweep, followed, json: json === true });
    }),
  );
}
