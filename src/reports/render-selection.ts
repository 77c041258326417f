import Table from 'cli-table3';
import type { Diagnosis, MethodFigures } from '../selection/evaluate-pools.ts';
import type { Selection } from '../selection/methods.ts';
import type { MatrixFile } from '../selection/read-matrix.ts';
import type { Row } from '../selection/select-pool.ts';
import type { TestLine } from '../selection/test-report.ts';
import { counted, painter, percent, type RenderOptions } from './terminal.ts';
import { terminalLine } from './terminal-safe.ts';

const SHOWN_PROGRAMS = 5;
const SHOWN_TESTS = 10;
const NAME_CHARS = 60;

/** One pool: what each method puts first, and for those that weigh tests, which tests and why. */
export function renderMatrixSelection(
  input: {
    file: MatrixFile;
    reports: {
      name: Row;
      selection: Selection;
      tests: TestLine[] | undefined;
      figures: MethodFigures | undefined;
    }[];
  },
  options: RenderOptions,
): string {
  const { file, reports } = input;
  const paint = painter(options.color);
  const { bits } = file.matrix;
  const lines = [paint('bold', `${counted(bits.rows, 'program')}, ${counted(bits.columns, 'test')}`)];
  const choices = table(['method', 'best', 'ties', 'then', ...(file.correct === undefined ? [] : ['pass@1'])]);
  for (const { name, selection, figures } of reports)
    choices.push([
      name,
      String(selection.order[0] ?? '–'),
      String((selection.groups[0]?.length ?? 1) - 1),
      selection.order.slice(1, SHOWN_PROGRAMS).join(' '),
      ...(file.correct === undefined ? [] : [percent(figures?.passAt[1] ?? null)]),
    ]);
  lines.push(choices.toString());
  for (const { name, tests } of reports) {
    if (tests === undefined || name === 'majority' || tests.length === 0) continue;
    const shown = table(['test', 'weight', 'LOO-AUC', 'pass rate', '', '']);
    for (const line of tests.slice(0, SHOWN_TESTS))
      shown.push([
        String(line.test),
        line.weight.toFixed(4),
        line.looAuc.toFixed(3),
        line.passRate.toFixed(3),
        [line.decided ? 'decided' : '', line.misleading ? 'misleading' : ''].filter(Boolean).join(', '),
        shortened(file.tests?.[line.test] ?? ''),
      ]);
    const misleading = tests.filter((line) => line.misleading).length;
    lines.push(
      '',
      paint('bold', `Tests by weight, ${name}`) + `  (${counted(misleading, 'test')} of ${tests.length} misleading)`,
      shown.toString(),
    );
  }
  return lines.join('\n');
}

/** Pools of many tasks: figures of every method, or without labels only how much was ranked. */
export function renderPoolFigures(input: {
  pools: number;
  withoutTests: number;
  measured: Partial<Record<Row, MethodFigures>> | undefined;
  ks: readonly number[];
  ranked: { taskId: string; selections: Map<Row, Selection> }[];
}): string {
  const { pools, withoutTests, measured, ks, ranked } = input;
  const without = withoutTests === 0 ? '' : `, ${withoutTests} of them without a usable test (a random choice)`;
  const lines = [`${counted(pools, 'task')}${without}`];
  if (measured === undefined) {
    const names = [...(ranked[0]?.selections.keys() ?? [])];
    const firsts = table(['task', ...names]);
    for (const { taskId, selections } of ranked)
      firsts.push([terminalLine(taskId), ...names.map((name) => String(selections.get(name)?.order[0] ?? '–'))]);
    return [...lines, 'First-ranked program of each method (0 is the first of the file):', firsts.toString()].join(
      '\n',
    );
  }
  const figures = table([
    'method',
    ...ks.map((k) => `pass@${k}`),
    '95 % of pass@1',
    'index order @1',
    'CodeT metric @1',
  ]);
  for (const [name, found] of Object.entries(measured)) {
    const interval = found.interval95[1] ?? null;
    figures.push([
      name,
      ...ks.map((k) => percent(found.passAt[k] ?? null)),
      interval === null ? '–' : `${percent(interval.low)} – ${percent(interval.high)}`,
      percent(found.passAtIndexOrder[1] ?? null),
      percent(found.passAtCodeT[1] ?? null),
    ]);
  }
  return [...lines, figures.toString()].join('\n');
}

export function renderDiagnosis(diagnosis: Diagnosis): string {
  const { pools, meanDelta, informative, misleading, weights, quintiles } = diagnosis;
  if (pools === 0) return 'No pool holds tests and both right and wrong programs: nothing to diagnose.';
  const lines = [
    '',
    `Tests of ${counted(pools, 'pool')} with right and wrong programs: mean δ ${shownNumber(meanDelta)}, ${percent(informative)} informative (δ > 0), ${percent(misleading)} misleading (δ < 0)`,
  ];
  const weighing = table(['method', 'informative tests with weight', 'weight on misleading tests']);
  for (const [name, quality] of Object.entries(weights))
    weighing.push([name, percent(quality?.informativeRecall ?? null), percent(quality?.misleadingWeight ?? null)]);
  if (weighing.length > 0) lines.push(weighing.toString());
  const names = Object.keys(quintiles[0]?.passAt1 ?? {});
  const fifths = table([
    'pass@1 by mean δ',
    ...quintiles.map((fifth) => `${shownNumber(fifth.meanDelta)} (${fifth.pools})`),
  ]);
  for (const name of names)
    fifths.push([
      name,
      ...quintiles.map(({ passAt1 }) => percent(Object.entries(passAt1).find(([key]) => key === name)?.[1] ?? null)),
    ]);
  return [...lines, fifths.toString()].join('\n');
}

function table(head: string[]): InstanceType<typeof Table> {
  return new Table({ head, style: { head: [], border: [], compact: true } });
}

function shortened(text: string): string {
  const line = terminalLine(text);
  return line.length > NAME_CHARS ? `${line.slice(0, NAME_CHARS - 1)}…` : line;
}

function shownNumber(value: number | null): string {
  return value === null ? '–' : value.toFixed(3);
}
