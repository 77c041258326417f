import Table from 'cli-table3';
import type { SweepReport } from '../reports/report.ts';
import { count, percent } from '../reports/terminal.ts';
import { REPORT_STEPS } from '../reports/trail.ts';

/** Strategies side by side: pass@1 with its 95 % interval, right answers by step, and what they cost. */
export function comparisonTable(reports: readonly SweepReport[]): string {
  const table = new Table({
    style: { head: [], border: [], compact: true },
    colAligns: ['left', ...reports.map(() => 'right' as const)],
  });
  table.push(['', ...reports.map(({ strategy }) => strategy)]);
  table.push(['pass@1', ...reports.map((report) => percent(report.passAt[1]?.value ?? null))]);
  table.push(['95 % interval', ...reports.map(intervalText)]);
  for (const step of REPORT_STEPS) {
    if (
      reports.some((report) => report.steps.some((score) => score.step === step) && !report.withoutSteps.includes(step))
    ) {
      table.push([`right at ${step}`, ...reports.map((report) => rightAt(report, step))]);
    }
  }
  table.push(['requests', ...reports.map(({ requests }) => count(requests.sent + requests.reused))]);
  table.push(['tokens', ...reports.map(({ tokens }) => count(tokens.prompt + tokens.completion))]);
  return table.toString();
}

function intervalText({ passAt }: SweepReport): string {
  const interval = passAt[1]?.interval95;
  return interval === null || interval === undefined ? '–' : `${percent(interval.low)} to ${percent(interval.high)}`;
}

function rightAt({ steps, planned }: SweepReport, step: string): string {
  const score = steps.find((candidate) => candidate.step === step);
  return score === undefined ? '' : `${count(score.passed)} of ${count(planned)}`;
}
