import { OUTCOME_NAMES } from '../reports/outcome-text.ts';
import { renderReport } from '../reports/render-report.ts';
import { renderTasks } from '../reports/render-tasks.ts';
import { buildReport } from '../reports/report.ts';
import { didYouMean } from '../spec/did-you-mean.ts';
import { type Context, print, printJson, renderOptions } from './context.ts';
import { withSweep } from './open-state.ts';
import { type ExitCode, UserError } from './user-error.ts';

/**
 * `report`: every name is looked up before anything is printed. With `tasks` the runs one by one instead of the tables; `outcome`, which
 * implies that, leaves those of the named outcomes (also in the JSON's `tasks`).
 */
export async function reportCommand({
  context,
  names,
  tasks,
  outcome,
  json,
}: {
  context: Context;
  names: readonly string[];
  tasks?: boolean;
  outcome?: string;
  json?: boolean;
}): Promise<ExitCode> {
  const wanted = outcome === undefined ? undefined : outcomesOf(outcome);
  const reports = [];
  for (const name of names) {
    const report = await withSweep(context, name, (store) => buildReport({ store, sweep: name }));
    if (wanted !== undefined) report.tasks = report.tasks.filter((run) => wanted.includes(run.outcome));
    reports.push(report);
  }
  for (const report of reports) {
    if (json === true) printJson(context, report);
    else if (tasks === true || wanted !== undefined) print(context, renderTasks(report, renderOptions(context)));
    else print(context, renderReport(report, renderOptions(context)));
  }
  return 0;
}

function outcomesOf(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !OUTCOME_NAMES.includes(name));
  if (unknown === undefined) return names;
  throw new UserError({
    message: `There is no outcome ${JSON.stringify(unknown)}${didYouMean(unknown, OUTCOME_NAMES)}`,
    remedy: `Outcomes are ${OUTCOME_NAMES.join(', ')}; several with commas`,
    exitCode: 2,
  });
}
