import Table from 'cli-table3';
import stringWidth from 'string-width';
import { isFinal, isOutcome } from '../store/final-outcome.ts';
import type { SweepRow } from '../store/store.ts';
import { outcomeText } from './outcome-text.ts';
import { bar, count, cut, type Paint, pad, painter, percent, type RenderOptions, terminalColumns } from './terminal.ts';
import { terminalLine } from './terminal-safe.ts';

/** `sweep list`. `outcomes` are stored rows by outcome, as `Store.countOutcomes` gives them. */
export function renderSweepList(
  sweeps: readonly { sweep: SweepRow; outcomes: Record<string, number> }[],
  options: RenderOptions,
): string {
  if (sweeps.length === 0) return 'No sweeps yet. Start one with: qualityflow sweep run SPEC\n';
  const paint = painter(options.color);
  const rows = sweeps.map(({ sweep, outcomes }) => {
    const { spec } = sweep;
    return [
      terminalLine(sweep.name),
      // An own file is told by its name; `--json` has the path.
      terminalLine(spec.benchmark.replace(/^.*[/\\]/u, '')),
      spec.strategy.kind,
      // In front, where no cut takes it away.
      sweep.scripted ? `(scripted) ${terminalLine(spec.model.name)}` : terminalLine(spec.model.name),
      stateText(shownState({ ...sweep, outcomes }), paint),
      `${count(finished(outcomes))}/${count(sweep.planned)}`,
      count(outcomes.pass ?? 0),
      sweep.createdAt.slice(0, 16).replace('T', ' '),
    ];
  });
  const fit = fitted(rows, terminalColumns(options.width));
  const table = new Table({
    head: LIST_HEAD.slice(0, fit[0]?.length),
    style: { head: [], border: [], compact: true },
    colAligns: ['left', 'left', 'left', 'left', 'left', 'right', 'right', 'left'],
  });
  table.push(...fit);
  return `${table.toString()}\n`;
}

const LIST_HEAD = ['name', 'benchmark', 'strategy', 'model', 'state', 'done', 'pass', 'created'];
/** Columns of free text, and how much of each is always left, in the order in which they give way: benchmark, model, name. */
const FREE_COLUMNS = [
  [1, 12],
  [3, 12],
  [0, 24],
] as const;

/** Rows whose free text is cut as far as the table is too wide; where that is not enough, their last column is left out. */
function fitted(rows: string[][], columns: number): string[][] {
  const width = (column: number) =>
    Math.max(stringWidth(LIST_HEAD[column] ?? ''), ...rows.map((row) => stringWidth(row[column] ?? '')));
  const widths = LIST_HEAD.map((_, column) => width(column));
  // A border and two blanks a column, and a border at the end.
  let excess = widths.reduce((sum, each) => sum + each + 3, 1) - columns;
  const limits = [...widths];
  for (const [column, least] of FREE_COLUMNS) {
    const before = widths[column] ?? 0;
    const limit = Math.min(before, Math.max(least, before - Math.max(0, excess)));
    excess -= before - limit;
    limits[column] = limit;
  }
  const shown = excess > 0 ? LIST_HEAD.length - 1 : LIST_HEAD.length;
  return rows.map((row) =>
    row
      .slice(0, shown)
      .map((cell, column) => ((limits[column] ?? 0) < (widths[column] ?? 0) ? cut(cell, limits[column] ?? 0) : cell)),
  );
}

/** `sweep status` and live progress, from plain data. `stages`: running problems by stage. `blocked`: why no new problem starts. */
export interface SweepStatus {
  name: string;
  state: string;
  scripted: boolean;
  planned: number;
  /** Stored rows by outcome. */
  outcomes: Record<string, number>;
  stages?: Record<string, number> | undefined;
  blocked?: string | undefined;
}

export function renderStatus(status: SweepStatus, options: RenderOptions): string {
  const paint = painter(options.color);
  const done = finished(status.outcomes);
  const recorded = Object.values(status.outcomes).reduce((sum, rows) => sum + rows, 0);
  const share = status.planned === 0 ? 0 : done / status.planned;
  const outcomes =
    status.planned > recorded ? { ...status.outcomes, not_run: status.planned - recorded } : status.outcomes;
  const scripted = status.scripted ? paint('yellow', '  (scripted model: not a measurement)') : '';
  const barWidth = Math.max(10, Math.min(40, terminalColumns(options.width) - 34));
  const lines = [
    `${paint(['bold', 'cyan'], terminalLine(status.name))}  ${stateText(shownState(status), paint)}${scripted}`,
    `  ${paint('green', bar({ share, width: barWidth }))} ${count(done)} of ${count(status.planned)} finished (${percent(share)})`,
    `  ${outcomeText(outcomes, paint)}`,
  ];
  const stages = Object.entries(status.stages ?? {}).filter(([, problems]) => problems > 0);
  if (stages.length > 0) {
    lines.push(
      `  ${pad('running', 8)} ${stages.map(([stage, problems]) => `${terminalLine(stage)} ${count(problems)}`).join(' · ')}`,
    );
  }
  if (status.blocked !== undefined) lines.push(paint('red', `  blocked: ${terminalLine(status.blocked)}`));
  return `${lines.join('\n')}\n`;
}

/** A sweep that has ended with runs that a resume would go on with is not called completed. */
export function shownState(sweep: { state: string; planned: number; outcomes: Record<string, number> }): string {
  return sweep.state === 'completed' && finished(sweep.outcomes) < sweep.planned ? 'unfinished' : sweep.state;
}

/** `cancelled: its reason`; a reason that begins with the state says it all. */
export function stateWithReason({ state, stateReason }: { state: string; stateReason: string }): string {
  return stateReason.startsWith(`${state} `) ? stateReason : `${state}: ${stateReason}`;
}

function finished(outcomes: Record<string, number>): number {
  return Object.entries(outcomes).reduce(
    (sum, [outcome, rows]) => sum + (isOutcome(outcome) && isFinal(outcome) ? rows : 0),
    0,
  );
}

function stateText(state: string, paint: Paint): string {
  switch (state) {
    case 'completed':
      return paint('green', state);
    case 'running':
      return paint('cyan', state);
    case 'paused':
    case 'blocked':
    case 'cancelled':
    case 'unfinished':
      return paint('yellow', state);
    default:
      return terminalLine(state);
  }
}
