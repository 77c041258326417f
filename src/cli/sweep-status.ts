import { renderStatus } from '../reports/render-lists.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import type { Store } from '../store/store.ts';
import { endedByHand } from '../temporal/ended-by-hand.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import { withRunningTemporal } from './connect.ts';
import { type Context, note, print, printJson, renderOptions } from './context.ts';
import { withSweep } from './open-state.ts';
import { type Health, problemHealth } from './problem-health.ts';
import { finishedOf } from './progress.ts';
import { standing } from './standing.ts';
import { runningProblems, sweepRun } from './sweep-runs.ts';
import type { ExitCode } from './user-error.ts';

/** `sweep status`: rows of the store, and of Temporal what runs now. A server that does not answer is said, not waited for. */
export function sweepStatusCommand({
  context,
  name,
  json,
}: {
  context: Context;
  name: string;
  json?: boolean;
}): Promise<ExitCode> {
  return withSweep<ExitCode>(context, name, async (store, sweep) => {
    const outcomes = await store.countOutcomes(name);
    const now = await whatRuns(context, name);
    const spent = await store.spent(name);
    const recorded = Object.values(outcomes).reduce((sum, rows) => sum + rows, 0);
    if (json === true) {
      const notRun = sweep.planned - recorded;
      const { state, planned, scripted } = sweep;
      const reason = sweep.stateReason || (now.stopped ?? '');
      const all = notRun > 0 ? { ...outcomes, not_run: notRun } : outcomes;
      printJson(context, {
        sweep: name,
        state,
        ...(reason === '' ? {} : { stateReason: reason }),
        running: now.running,
        planned,
        outcomes: all,
        unfinished: planned - finishedOf(outcomes),
        stages: now.stages,
        paced: now.health?.paced ?? null,
        awaitBudget: now.health?.awaitBudget ?? 0,
        late: now.health?.late ?? null,
        retrying: now.health?.retrying ?? null,
        spent,
        scripted,
      });
      return 0;
    }
    print(
      context,
      renderStatus(
        { name, state: sweep.state, scripted: sweep.scripted, planned: sweep.planned, outcomes, stages: now.stages },
        renderOptions(context),
      ),
    );
    for (const line of standing({ plan: sweep, health: now.health, spent })) print(context, `  ${line}`);
    // Nothing of a terminated sweep may have been left to write it down.
    if (sweep.state === 'running' && now.stopped !== undefined)
      print(context, `  ${terminalLine(`its workflow was ${now.stopped}`)}`);
    const [next] = await store.listUnfinished({ sweep: name, from: 0, to: sweep.planned, limit: 1 });
    if (next !== undefined && !now.running) {
      const flags = (outcomes.budget_exhausted ?? 0) > 0 ? raisedBudget(spent.cap) : '';
      note(context, `Nothing of it runs now: \`qualityflow sweep resume ${name}${flags}\` goes on.`);
    }
    return 0;
  });
}

/** Flags for a higher budget in the units that the sweep has one in. */
function raisedBudget({ tokens, microUsd }: Awaited<ReturnType<Store['spent']>>['cap']): string {
  return `${tokens === null ? '' : ' --budget-tokens N'}${microUsd === null ? '' : ' --budget-usd N'}`;
}

interface Now {
  running: boolean;
  /** Running problems by stage. */
  stages: Record<string, number>;
  /** Who ended the sweep's workflow, in words. */
  stopped?: string | undefined;
  health?: Health;
}

async function whatRuns(context: Context, name: string): Promise<Now> {
  try {
    return await withRunningTemporal<Now>(context, async (temporal) => {
      if (temporal === undefined) return { running: false, stages: {} };
      const run = await sweepRun(temporal.client, name);
      const swept = run === 'running';
      // Also those of `sweep retry`, which run without the sweep's workflow.
      const problems = await runningProblems(temporal.client, name, { alone: !swept });
      const running = swept || problems.length > 0;
      const stages: Record<string, number> = {};
      for (const { stage } of problems) stages[stage] = (stages[stage] ?? 0) + 1;
      const stopped = run === 'cancelled' ? await endedByHand(temporal.client, sweepWorkflowId(name)) : undefined;
      return { running, stages, stopped, health: await problemHealth(temporal.client, problems, Date.now()) };
    });
  } catch (error) {
    note(
      context,
      `Temporal does not answer, so this is what is stored: ${error instanceof Error ? error.message : String(error)}`,
    );
    return { running: false, stages: {} };
  }
}
