import stringWidth from 'string-width';
import { outcomeName } from './outcome-text.ts';
import type { SweepReport } from './report.ts';
import { count, counted, cut, pad, painter, type RenderOptions, terminalColumns } from './terminal.ts';
import { terminalLine } from './terminal-safe.ts';

const TASK_COLUMNS = 40;
const GAP = '  ';

/** `report NAME --tasks`: a line a run, none wider than the terminal; `report.tasks` may be a part of them. */
export function renderTasks(
  report: Pick<SweepReport, 'sweep' | 'scripted' | 'planned' | 'tasks'>,
  options: RenderOptions,
): string {
  const paint = painter(options.color);
  const { planned, tasks } = report;
  const rows = tasks.map(({ task, sample, outcome, step, detail }) => ({
    cells: [cut(terminalLine(task), TASK_COLUMNS), String(sample), outcome, terminalLine(step)] as const,
    detail: terminalLine(detail),
  }));
  const head = ['task', 'sample', 'outcome', 'ended at'] as const;
  const widths = head.map((title, column) =>
    rows.reduce((most, { cells }) => Math.max(most, stringWidth(cells[column] ?? '')), title.length),
  );
  const left = terminalColumns(options.width) - widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const padded = (cells: readonly string[]) => cells.map((cell, column) => pad(cell, widths[column] ?? 0));
  const lines = rows.map(({ cells, detail }) => {
    const [task, sample, outcome = '', step] = padded(cells);
    const colored = outcome.replace(cells[2], () => outcomeName(cells[2], paint));
    return [task, sample, colored, step, cut(detail, Math.max(10, left))].join(GAP).trimEnd();
  });
  const shown =
    tasks.length === planned ? counted(planned, 'run') : `${count(tasks.length)} of ${counted(planned, 'run')}`;
  const scripted = report.scripted ? paint('yellow', '  (scripted model: not a measurement)') : '';
  return [
    `${paint(['bold', 'cyan'], terminalLine(report.sweep))}  ${shown}${scripted}`,
    paint('bold', [...padded(head), 'detail'].join(GAP)),
    ...lines,
    '',
  ].join('\n');
}
