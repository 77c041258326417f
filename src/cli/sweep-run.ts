import { counted } from '../reports/terminal.ts';
import type { RequestPlan } from '../spec/plan.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { SweepRow } from '../store/store.ts';
import { budgetFallsShort, budgetText, forecastText, requireUsefulBudget } from './budget-forecast.ts';
import { withStartedTemporal } from './connect.ts';
import { type Context, note, print, printJson } from './context.ts';
import { endStrangers } from './end-strangers.ts';
import { ensureReady } from './ensure-ready.ts';
import { followSweep } from './follow-sweep.ts';
import { forkedSpec, requireFork, tellReuse } from './fork-sweep.ts';
import { createSweep, requireFreeName, requireFreeNameDry } from './launch-sweep.ts';
import { hasStore, withStore, withSweep } from './open-state.ts';
import { planText } from './plan-text.ts';
import { type PreparedSweep, planOf, prepareSweep } from './prepare-sweep.ts';
import { readSpec, type SpecFlags } from './spec-input.ts';
import { sandboxFingerprint, surroundingsOf } from './surroundings.ts';
import { showResult } from './sweep-result.ts';
import { startSweep } from './sweep-runs.ts';
import type { ExitCode } from './user-error.ts';
import { warnGreedy } from './warn-greedy.ts';
import { warnUncertified } from './warn-uncertified.ts';

export interface RunOptions {
  dryRun?: boolean;
  detach?: boolean;
  dataDir?: string;
  json?: boolean;
}

/**
 * `sweep run`: everything that can be refused is refused before anything starts or costs. With `--fork NEW` the spec, which has the name of a
 * sweep that is there and differs from it, runs as the new sweep NEW.
 */
export async function runSweepCommand(
  input: { context: Context; file: string | undefined; flags: SpecFlags; fork?: string } & RunOptions,
): Promise<ExitCode> {
  const { context } = input;
  const named = await readSpec({ context, file: input.file, flags: input.flags });
  const from = input.fork === undefined ? undefined : named.name;
  const spec = input.fork === undefined ? named : forkedSpec(named, input.fork);
  if (from !== undefined) await withSweep(context, from, async () => {});
  const prepared = await prepareSweep({ context, spec, dataDir: input.dataDir, dryRun: input.dryRun });
  requireUsefulBudget(prepared);
  warnGreedy(context, prepared.spec);
  if (input.dryRun === true && hasStore(context)) {
    await withStore(context, async (store) => {
      if (from === undefined) return requireFreeNameDry({ store, prepared });
      await requireFork({ store, from, prepared });
      return tellReuse({ context, store, from, prepared });
    });
  }
  const plan = planOf(prepared);
  if (input.dryRun === true) {
    if (input.json === true)
      printJson(context, {
        sweep: spec.name,
        benchmark: spec.benchmark,
        ...plan,
        spec: prepared.spec,
        tasks: prepared.tasks,
      });
    else print(context, planText(prepared, plan));
    return 0;
  }
  tellForecast(context, prepared.spec, plan);
  return launch({ context, prepared, from, detach: input.detach === true, json: input.json === true });
}

/** Before anything starts: what it may take, and whether the budget reaches that far. */
function tellForecast(context: Context, spec: SweepSpec, plan: RequestPlan): void {
  note(context, `Forecast: ${forecastText(plan)}.`);
  const budget = budgetText(spec, plan);
  if (budget === undefined) return;
  const warning = budgetFallsShort(spec, plan)
    ? ' Runs it does not reach will end as budget_exhausted; a resume with a higher one goes on with them.'
    : '';
  note(context, `Budget: ${budget}.${warning}`);
}

/** Set-up, row, workflow, progress, report. */
export async function launch(input: {
  context: Context;
  prepared: PreparedSweep;
  /** The sweep that this one is forked from. */
  from?: string | undefined;
  detach: boolean;
  json: boolean;
}): Promise<ExitCode> {
  const { context, prepared, from, json } = input;
  await ensureReady({ context, env: prepared.env });
  return withStore(context, async (store) => {
    const foundFreeAt = new Date();
    if (from === undefined) {
      await requireFreeName({
        store,
        prepared,
        surroundings: async () => surroundingsOf(prepared, await sandboxFingerprint(context)),
      });
    } else {
      await requireFork({
        store,
        from,
        prepared,
        surroundings: surroundingsOf(prepared, await sandboxFingerprint(context)),
      });
      await tellReuse({ context, store, from, prepared });
    }
    // A container's start and the supervisor's, neither of which needs the other.
    const fingerprint = sandboxFingerprint(context);
    const asked = fingerprint.catch(() => undefined);
    try {
      return await withStartedTemporal({ context, prepared }, async ({ client, uiUrl }) => {
        const strangers = await endStrangers(client, prepared.spec.name, foundFreeAt);
        if (strangers > 0)
          note(
            context,
            `Temporal still ran ${counted(strangers, 'workflow')} of an earlier sweep of this name that the store does not know: ended.`,
          );
        const surroundings = surroundingsOf(prepared, await fingerprint);
        warnUncertified(context, surroundings, prepared.benchmark.name);
        const sweep = await createSweep({ store, prepared, surroundings });
        await startSweep(client, sweep);
        announce(context, sweep, uiUrl);
        if (input.detach) return detached(context, sweep, json);
        const followed = await followSweep({ context, store, client, sweep });
        return showResult({ context, store, sweep, followed, json });
      });
    } finally {
      await asked;
    }
  });
}

export function announce(context: Context, sweep: SweepRow, uiUrl: string): void {
  const scripted = sweep.scripted
    ? ' The scripted offline model answers: its numbers say nothing about any real model.'
    : '';
  note(
    context,
    `Sweep ${sweep.name}: ${counted(sweep.planned, 'run')}.${scripted}${uiUrl === '' ? '' : ` Temporal UI: ${uiUrl}`}`,
  );
}

export function detached(context: Context, sweep: SweepRow, json: boolean): ExitCode {
  if (json) printJson(context, { sweep: sweep.name, planned: sweep.planned, state: 'running' });
  else
    print(
      context,
      `Started. \`qualityflow sweep watch ${sweep.name}\` shows it, \`qualityflow sweep cancel ${sweep.name}\` stops it.`,
    );
  return 0;
}
