import { counted } from '../reports/terminal.ts';
import type { RequestPlan } from '../spec/plan.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { SweepRow } from '../store/store.ts';
import { budgetFallsShort, budgetText, forecastText, requireUsefulBudget } from './budget-forecast.ts';
import { withStartedTemporal } from './connect.ts';
import { type Context, note, print, printJson } from './context.ts';
import { ensureReady } from './ensure-ready.ts';
import { followSweep } from './follow-sweep.ts';
import { createSweep, requireFreeName, requireFreeNameDry } from './launch-sweep.ts';
import { hasStore, withStore } from './open-state.ts';
import { planText } from './plan-text.ts';
import { type PreparedSweep, planOf, prepareSweep } from './prepare-sweep.ts';
import { readSpec, type SpecFlags } from './spec-input.ts';
import { sandboxFingerprint, surroundingsOf } from './surroundings.ts';
import { showResult } from './sweep-result.ts';
import { startSweep } from './sweep-runs.ts';
import type { ExitCode } from './user-error.ts';
import { warnUncertified } from './warn-uncertified.ts';

export interface RunOptions {
  dryRun?: boolean;
  detach?: boolean;
  dataDir?: string;
  json?: boolean;
}

/** `sweep run`: everything that can be refused is refused before anything starts or costs. */
export async function runSweepCommand(
  input: { context: Context; file: string | undefined; flags: SpecFlags } & RunOptions,
): Promise<ExitCode> {
  const { context } = input;
  const spec = await readSpec({ context, file: input.file, flags: input.flags });
  const prepared = await prepareSweep({ context, spec, dataDir: input.dataDir, dryRun: input.dryRun });
  requireUsefulBudget(prepared);
  if (input.dryRun === true && hasStore(context))
    await withStore(context, (store) => requireFreeNameDry({ store, prepared }));
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
  return launch({ context, prepared, detach: input.detach === true, json: input.json === true });
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
  detach: boolean;
  json: boolean;
}): Promise<ExitCode> {
  const { context, prepared, json } = input;
  await ensureReady({ context, env: prepared.env });
  const surroundings = surroundingsOf(prepared, await sandboxFingerprint(context));
  warnUncertified(context, surroundings, prepared.benchmark.name);
  return withStore(context, async (store) => {
    await requireFreeName({ store, prepared, surroundings });
    return withStartedTemporal({ context, prepared }, async ({ client, uiUrl }) => {
      const sweep = await createSweep({ store, prepared, surroundings });
      await startSweep(client, sweep);
      announce(context, sweep, uiUrl);
      if (input.detach) return detached(context, sweep, json);
      const followed = await followSweep({ context, store, client, sweep });
      return showResult({ context, store, sweep, followed, json });
    });
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
