import type { EvaluationSummary } from '../evaluation/summarise-evaluation.ts';
import { counted, percent } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { type Output, paint } from './context.ts';

/** An evaluation for people: what was graded, pass@k over what was attempted and over all, verdicts. */
export function evaluationText(output: Output, summary: EvaluationSummary, results: string): string {
  const { benchmark, total, attempted, samples, programs, base, infra, interval } = summary;
  const lines = [
    terminalLine(
      `${benchmark}: ${attempted}/${total} attempted, ${counted(samples, 'sample')}${programs < samples ? ` (${counted(programs, 'different program')})` : ''}, limits: ${summary.limits}`,
    ),
  ];
  for (const [k, value] of Object.entries(summary.passAt)) {
    if (value === null && k !== '1') continue;
    const shown = paint(output, 'bold', percent(value));
    const baseShown = base === null ? '' : `  (base tests alone ${percent(base.passAt[k] ?? null)})`;
    const ofTotal = attempted < total ? `; over all ${total}: ${percent(summary.passAtOfTotal[k] ?? null)}` : '';
    lines.push(`pass@${k}  ${shown}${baseShown}${ofTotal}`);
  }
  const verdicts = Object.entries(summary.verdicts).map(([verdict, count]) => `${verdict} ${count}`);
  lines.push(verdicts.join(' · '));
  if (summary.forgeable > 0)
    lines.push(
      `${summary.forgeable === 1 ? '1 pass' : `${summary.forgeable} passes`} could be forged: a test of the task runs in the program's own process.`,
    );
  if (summary.nearLimit > 0)
    lines.push(
      `${counted(summary.nearLimit, 'sample')} came near a limit of time (more than three quarters of it): on a slower machine that may be a timeout.`,
    );
  if (infra > 0 && interval !== null)
    lines.push(
      `${counted(infra, 'sample')} could not be graded by this machine and ${infra === 1 ? 'is' : 'are'} in no score; with them pass@1 lies between ${percent(interval.low)} and ${percent(interval.high)}. Run the same command again.`,
    );
  lines.push(terminalLine(`each sample: ${results}`));
  return lines.join('\n');
}
