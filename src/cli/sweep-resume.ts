import { withStartedTemporal } from './connect.ts';
import { type Context, note } from './context.ts';
import { ensureReady } from './ensure-ready.ts';
import { followSweep } from './follow-sweep.ts';
import { requireSameConditions } from './launch-sweep.ts';
import { withSweep } from './open-state.ts';
import { prepareSweep } from './prepare-sweep.ts';
import { sandboxFingerprint, surroundingsOf } from './surroundings.ts';
import { showResult } from './sweep-result.ts';
import { announce, detached } from './sweep-run.ts';
import { startSweep } from './sweep-runs.ts';
import type { ExitCode } from './user-error.ts';

/** `sweep resume`: runs what has no final outcome; what is stored is neither paid for nor graded again. */
export function resumeSweepCommand(input: {
  context: Context;
  name: string;
  detach?: boolean;
  dataDir?: string;
  json?: boolean;
}): Promise<ExitCode> {
  const { context, name } = input;
  return withSweep<ExitCode>(context, name, async (store, sweep) => {
    const [next] = await store.listUnfinished({ sweep: name, from: 0, to: sweep.planned, limit: 1 });
    const json = input.json === true;
    if (next === undefined) {
      note(context, `The sweep ${name} is complete: all ${sweep.planned} runs have a final outcome.`);
      return showResult({ context, store, sweep, followed: { kind: 'ended', run: 'completed' }, json });
    }
    const prepared = await prepareSweep({ context, spec: sweep.spec, dataDir: input.dataDir });
    await ensureReady({ context, env: prepared.env });
    requireSameConditions(sweep, surroundingsOf(prepared, await sandboxFingerprint(context)));
    return withStartedTemporal({ context, prepared }, async ({ client, uiUrl }) => {
      await startSweep(client, sweep);
      announce(context, sweep, uiUrl);
      if (input.detach === true) return detached(context, sweep, json);
      const followed = await followSweep({ context, store, client, sweep });
      return showResult({ context, store, sweep, followed, json });
    });
  });
}
