import { renderReport } from '../reports/render-report.ts';
import { buildReport } from '../reports/report.ts';
import { type Context, print, printJson, renderOptions } from './context.ts';
import { withSweep } from './open-state.ts';
import type { ExitCode } from './user-error.ts';

/** `report`: every name is looked up before anything is printed. */
export async function reportCommand({
  context,
  names,
  json,
}: {
  context: Context;
  names: readonly string[];
  json?: boolean;
}): Promise<ExitCode> {
  const reports = [];
  for (const name of names)
    reports.push(await withSweep(context, name, (store) => buildReport({ store, sweep: name })));
  for (const report of reports) {
    if (json === true) printJson(context, report);
    else print(context, renderReport(report, renderOptions(context)));
  }
  return 0;
}
