import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { counted } from '../reports/terminal.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import { withRunningTemporal } from './connect.ts';
import { type Context, print, printJson } from './context.ts';
import { requireSweep, withSweep } from './open-state.ts';
import { cancelLoneProblems, cancelSweep, LIST_LAG_MS } from './sweep-runs.ts';
import { isClosing } from './until-closed.ts';
import { type ExitCode, UserError } from './user-error.ts';

/** States of a sweep of which Temporal has, or had, a running workflow. */
const GOING = ['created', 'running', 'paused', 'blocked'] as const;

/**
 * `sweep cancel`: asks the sweep and its problems under `sweep retry` to end, and returns; problems in flight end within seconds. Exit 0
 * whenever nothing of the sweep will go on: also when it is being cancelled already or has ended. Exit 3 when nothing runs here that could
 * be told, for the sweep would go on with the next start.
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
          message: `Nothing runs here that could cancel ${name}, which goes on with the next start unless it was cancelled before`,
          remedy: `Start it by \`qualityflow dev\`, then cancel again`,
          exitCode: 3,
        });
      }
      const client = temporal?.client;
      const already = client !== undefined && (await isClosing(client, sweepWorkflowId(name)));
      const swept = client !== undefined && !already && (await cancelSweep(client, name));
      const lone = client === undefined ? 0 : await cancelLone(client, name);
      // Its workflow was ended by hand, or is lost with Temporal's database: what would write this word is gone.
      if (!swept && !already && going) await store.setSweepState(name, 'cancelled', { from: GOING });
      const { state } = await requireSweep(store, name);
      const alone = counted(lone, 'retried problem');
      if (json === true) printJson(context, { sweep: name, state, cancelled: swept || lone > 0 });
      else if (swept)
        print(
          context,
          `Cancelling ${name}${lone === 0 ? '' : ` and ${alone}`}. What is finished stays; \`qualityflow sweep resume ${name}\` goes on.`,
        );
      else if (lone > 0) print(context, `Cancelling ${alone} of ${name}, which is ${state}.`);
      else if (already) print(context, `${name} is being cancelled already.`);
      else if (state === 'cancelled')
        print(context, `${name} is ${going ? 'cancelled' : 'cancelled already'}; nothing of it was running.`);
      else print(context, `${name} has ended already: it is ${state}.`);
      return 0;
    }),
  );
}

/** Looks twice: a problem that was retried just now may be missing in the server's list. Gives how many were told. */
async function cancelLone(client: Client, name: string): Promise<number> {
  const first = await cancelLoneProblems(client, name);
  await sleep(LIST_LAG_MS);
  return new Set([...first, ...(await cancelLoneProblems(client, name))]).size;
}
