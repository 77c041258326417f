import { sweepWorkflowId } from '../temporal/ids.ts';
import { withRunningTemporal } from './connect.ts';
import { type Context, print, printJson } from './context.ts';
import { requireSweep, withSweep } from './open-state.ts';
import { cancelSweep } from './sweep-runs.ts';
import { isClosing } from './until-closed.ts';
import { type ExitCode, UserError } from './user-error.ts';

/** States of a sweep of which Temporal has, or had, a running workflow. */
const GOING = ['created', 'running', 'paused', 'blocked'] as const;

/**
 * `sweep cancel`: asks and returns; problems in flight end within seconds. Exit 0 whenever nothing of the sweep will go on: also when it is being
 * cancelled already or has ended. Exit 3 when nothing runs here that could be told, for the sweep would go on with the next start.
 */
export function cancelSweepCommand({
  context,
  name,
  json,
}: {
  context: Context;
  name: string;
  json?: boolean;
}): Promise<ExitCode> {
  return withSweep<ExitCode>(context, name, (store, before) =>
    withRunningTemporal<ExitCode>(context, async (temporal) => {
      const going = GOING.some((state) => state === before.state);
      if (temporal === undefined && going) {
        throw new UserError({
          message: `Nothing runs here that could cancel ${name}, which would go on with the next start`,
          remedy: `Start it by \`qualityflow dev\`, then cancel again`,
          exitCode: 3,
        });
      }
      const client = temporal?.client;
      const already = client !== undefined && (await isClosing(client, sweepWorkflowId(name)));
      const cancelled = client !== undefined && !already && (await cancelSweep(client, name));
      // Its workflow was ended by hand, or is lost with Temporal's database: what would write this word is gone.
      if (!cancelled && !already && going) await store.setSweepState(name, 'cancelled', { from: GOING });
      const { state } = await requireSweep(store, name);
      if (json === true) printJson(context, { sweep: name, state, cancelled });
      else if (cancelled)
        print(context, `Cancelling ${name}. What is finished stays; \`qualityflow sweep resume ${name}\` goes on.`);
      else if (already) print(context, `${name} is being cancelled already.`);
      else if (state === 'cancelled')
        print(context, `${name} is ${going ? 'cancelled' : 'cancelled already'}; nothing of it was running.`);
      else print(context, `${name} has ended already: it is ${state}.`);
      return 0;
    }),
  );
}
