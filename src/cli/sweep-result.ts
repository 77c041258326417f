import { renderReport } from '../reports/render-report.ts';
import { buildReport } from '../reports/report.ts';
import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import type { Store, SweepRow } from '../store/store.ts';
import { type Context, note, print, printJson, renderOptions } from './context.ts';
import type { Followed } from './follow-sweep.ts';
import type { ExitCode } from './user-error.ts';

/**
 * The end of a command that followed a sweep: its report on stdout, what is left to do on stderr, and the exit code. Wrong answers
 * are results; only what has no final outcome is a failure, of the infrastructure when that is the recorded reason.
 */
export async function showResult(input: {
  context: Context;
  store: Store;
  sweep: SweepRow;
  followed: Followed;
  json: boolean;
}): Promise<ExitCode> {
  const { context, store, sweep, followed } = input;
  if (followed.kind === 'interrupted') {
    note(
      context,
      `\nThe sweep goes on. \`qualityflow sweep watch ${sweep.name}\` shows it again, \`qualityflow sweep cancel ${sweep.name}\` stops it.`,
    );
    return 130;
  }
  const report = await buildReport({ store, sweep: sweep.name });
  if (followed.kind === 'blocked') {
    if (input.json) printJson(context, report);
    note(
      context,
      `\nThe sweep ${sweep.name} is blocked, and sends nothing more: ${terminalLine(followed.reason)}\nMend that; then \`qualityflow sweep resume ${sweep.name}\` goes on where it stands.`,
    );
    return 3;
  }
  if (input.json) printJson(context, report);
  else print(context, renderReport(report, renderOptions(context)));
  const left = unfinishedOf(report.outcomes);
  if (left === 0) return 0;
  note(
    context,
    `${left} of ${counted(report.planned, 'run')} ${left === 1 ? 'has' : 'have'} no final outcome: \`qualityflow sweep resume ${sweep.name}\` goes on with ${left === 1 ? 'it' : 'them'}.`,
  );
  return (report.outcomes.infra ?? 0) > 0 ? 3 : 1;
}

/** Runs without a final outcome, rows of a kind that a resume tries again included. */
export function unfinishedOf(outcomes: Readonly<Record<string, number>>): number {
  return ['infra', 'budget_exhausted', 'cancelled', 'not_run'].reduce(
    (sum, outcome) => sum + (outcomes[outcome] ?? 0),
    0,
  );
}
