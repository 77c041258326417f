import { confusionRates } from './checker.ts';
import { leftOutText } from './left-out.ts';
import { outcomeText } from './outcome-text.ts';
import { plainTable } from './plain-table.ts';
import { shownState, stateWithReason } from './render-lists.ts';
import type { SweepReport } from './report.ts';
import {
  bar,
  count,
  counted,
  intervalPicture,
  type Paint,
  pad,
  painter,
  percent,
  type RenderOptions,
  terminalColumns,
  usd,
} from './terminal.ts';
import { terminalLine } from './terminal-safe.ts';

/** A sweep's report for people. Every block of numbers from the scripted model says so in its title. */
export function renderReport(report: SweepReport, options: RenderOptions): string {
  const paint = painter(options.color);
  const width = terminalColumns(options.width);
  const title = (text: string) =>
    paint('bold', text) + (report.scripted ? paint('yellow', '  (scripted model: not a measurement)') : '');
  const blocks = [
    heading(report, paint),
    headlineBlock(report, { paint, title, width }),
    stepBlock(report, { paint, title, width }),
    outcomeBlock(report, { paint, title }),
    checkerBlock(report, { title, width }),
    funnelBlock(report, title),
    costBlock(report, { title, width }),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

type Title = (text: string) => string;

function heading(report: SweepReport, paint: Paint): string[] {
  const parts = [
    report.benchmark,
    report.strategy,
    report.model,
    `${counted(report.taskCount, 'task')} × ${counted(report.samples, 'sample')}`,
    shownState(report),
  ];
  const sandboxes = report.sandboxes.map(
    (s) => `Python ${s.python}, numpy ${s.numpy}, runner ${s.runnerSha256.slice(0, 12)}`,
  );
  const lines = [
    `${paint(['bold', 'cyan'], terminalLine(report.sweep))}  ${parts.map(terminalLine).join(' · ')}`,
    paint(
      'dim',
      `dataset ${terminalLine(report.datasetSha256.slice(0, 12))} · ${[...new Set(sandboxes)].map(terminalLine).join(' | ') || (report.leftOut.unfinished > 0 ? 'nothing graded yet' : 'no program to grade')}`,
    ),
  ];
  if (report.stateReason !== '') lines.push(paint('red', terminalLine(stateWithReason(report))));
  if (new Set(sandboxes).size > 1)
    lines.push(paint('yellow', 'More than one sandbox graded this sweep: its results may not be comparable.'));
  return lines;
}

function headlineBlock(
  report: SweepReport,
  { paint, title, width }: { paint: Paint; title: Title; width: number },
): string[] {
  const open = report.leftOut.unfinished;
  const lines = [title('pass@k')];
  for (const [k, { value, low, high, interval95 }] of Object.entries(report.passAt)) {
    const sampling =
      interval95 === null ? [] : [`   95 % interval [${percent(interval95.low)}, ${percent(interval95.high)}]`];
    const partial =
      open === 0
        ? []
        : [
            paint(
              'yellow',
              `   partial: ${count(report.planned - open)} of ${counted(report.planned, 'run')}, [${percent(low)}, ${percent(high)}] if all open ones fail or pass`,
            ),
          ];
    const [first = '', ...further] = [...partial, ...sampling];
    lines.push(`  pass@${pad(k, 4)} ${paint(['bold', 'green'], pad(percent(value), 8, 'left'))}${first}`);
    for (const line of further) lines.push(`${' '.repeat(20)}${line}`);
    if (value !== null && interval95 !== null) {
      lines.push(
        `  ${paint('dim', '0')} ${paint('green', intervalPicture({ value, ...interval95, width: Math.min(60, width - 12) }))} ${paint('dim', '100 %')}`,
      );
    }
  }
  if (report.greedy)
    lines.push(
      paint(
        'yellow',
        '  All samples of a task asked the same greedy request (temperature 0): k > 1 says nothing about the model.',
      ),
    );
  if (report.noHeadline !== null) lines.push(paint('red', `  No headline: ${report.noHeadline}`));
  return lines;
}

function stepBlock(
  report: SweepReport,
  { paint, title, width }: { paint: Paint; title: Title; width: number },
): string[] {
  const checked = report.steps.some((step) => step.accepted > 0);
  const barWidth = Math.max(10, Math.min(40, width - 46));
  const lines = [title('Right by step')];
  let before: number | undefined;
  for (const { step, passed, accepted, share } of report.steps) {
    if (report.withoutSteps.includes(step)) continue;
    const change =
      before === undefined || passed === before
        ? ''
        : passed > before
          ? paint('green', `+${passed - before}`)
          : paint('red', String(passed - before));
    before = passed;
    lines.push(
      `  ${pad(step, 10)}${paint('green', bar({ share: share ?? 0, width: barWidth }))}${pad(count(passed), 6, 'left')} ${pad(percent(share), 8, 'left')} ${pad(change, 5, 'left')}${checked ? `  accepted ${count(accepted)}` : ''}`.trimEnd(),
    );
  }
  lines.push(...selectionLines(report, paint));
  if (report.lastFive !== null) {
    lines.push(
      `  ${paint('dim', 'any of the last five programs')} ${count(report.lastFive.passed)}  ${percent(report.lastFive.share)}`,
    );
  }
  return lines;
}

function selectionLines({ selection }: SweepReport, paint: Paint): string[] {
  if (selection === null) return [];
  const line = (label: string, value: string) => `  ${paint('dim', label)} ${value}`;
  const { method, otherThanFirst } = selection;
  if (selection.kind === 'revert')
    return [
      line(
        `reverted by ${method}`,
        `${count(selection.reverted)}, to another program than the first: ${count(otherThanFirst)}`,
      ),
    ];
  const { best, ranked, unranked } = selection;
  const without = unranked === 0 ? '' : `, ${count(unranked)} without a usable test to rank by`;
  return [
    line(`ranked by ${method}`, `${counted(ranked, 'run')}${without}`),
    line(`any of the best ${best.submit}`, `${count(best.passed)}  ${percent(best.share)}`),
  ];
}

function outcomeBlock(report: SweepReport, { paint, title }: { paint: Paint; title: Title }): string[] {
  const lines = [title('Outcomes'), `  ${outcomeText(report.outcomes, paint)}   of ${count(report.planned)} planned`];
  const exhausted = report.outcomes.budget_exhausted ?? 0;
  if (exhausted > 0) {
    const capped = report.budget.cap.tokens === null ? '--budget-usd' : '--budget-tokens';
    lines.push(
      paint(
        'yellow',
        `  The budget ended ${counted(exhausted, 'run')}, which ${exhausted === 1 ? 'counts' : 'count'} as unfinished: raise it with \`sweep resume ${terminalLine(report.sweep)} ${capped} N\`.`,
      ),
    );
  }
  if (report.forgeablePasses > 0) {
    lines.push(
      paint(
        'yellow',
        `  Passes that rest on the program's own process, because a test cannot be replayed (a hostile program could forge that): ${count(report.forgeablePasses)}`,
      ),
    );
  }
  const invalid = report.outcomes.invalid_test ?? 0;
  if (invalid > 0) {
    const runs = counted(invalid, 'run');
    lines.push(
      paint(
        'yellow',
        `  The benchmark's own tests failed on ${runs}: counted as not passed, and not held against the checker.`,
      ),
    );
  }
  return lines;
}

const CHECKER_HEAD = ['step', 'TP', 'FP', 'FN', 'TN', 'accuracy', 'precision', 'recall', 'accepted', 'left out'];
const SHORT_CHECKER_HEAD = ['step', 'TP', 'FP', 'FN', 'TN', 'accuracy', 'precision', 'recall', 'acc.', 'out'];

function checkerBlock(report: SweepReport, { title, width }: { title: Title; width: number }): string[] {
  const { tp, fp, fn, tn } = report.checker;
  if (tp + fp + fn + tn === 0) return [];
  const rows: string[][] = [];
  const final = report.planned - report.leftOut.unfinished;
  for (const row of report.checkerByStep) {
    if (report.withoutSteps.includes(row.step)) continue;
    const rates = confusionRates(row);
    rows.push([
      row.step,
      ...[row.tp, row.fp, row.fn, row.tn].map(count),
      ...[rates.accuracy, rates.precision, rates.recall, rates.accepted].map(percent),
      count(final - row.tp - row.fp - row.fn - row.tn),
    ]);
  }
  const without = leftOutText(report.leftOut);
  return [
    title('Checker against hidden tests (accepted = positive)'),
    plainTable({ head: CHECKER_HEAD, shortHead: SHORT_CHECKER_HEAD, rows, columns: width }),
    ...(without === '' ? [] : [`  left out at the end: ${without}`]),
  ];
}

function funnelBlock(report: SweepReport, title: Title): string[] {
  const { funnel } = report;
  if (funnel === null) return [];
  const without = leftOutText({ ...report.leftOut, unjudged: 0 });
  const stage = (name: string, { entered, accepted, right }: { entered: number; accepted: number; right: number }) =>
    `  ${pad(name, 11)}${pad(count(entered), 6, 'left')} came → ${pad(count(accepted), 6, 'left')} accepted, ${count(right)} right`;
  const end = (name: string, { entered, right }: { entered: number; right: number }) =>
    entered === 0 ? [] : [`  ${pad(name, 11)}${pad(count(entered), 6, 'left')} ended here, ${count(right)} right`];
  return [
    title('Funnel'),
    stage('generated', funnel.generated),
    ...(funnel.debugged.entered > 0 ? [stage('debugged', funnel.debugged)] : []),
    ...(funnel.clarified.entered > 0 ? [stage('clarified', funnel.clarified)] : []),
    ...end('reverted', funnel.reverted),
    ...end('unaccepted', funnel.unaccepted),
    ...(without === '' ? [] : [`  left out: ${without}`]),
  ];
}

function costBlock(report: SweepReport, { title, width }: { title: Title; width: number }): string[] {
  const { tokens, requests, budget } = report;
  const { paid } = tokens;
  const replies = Object.values(tokens.byAgent).reduce((sum, used) => sum + used.requests, 0);
  const anyReused = replies > paid.replies;
  const rows: string[][] = [];
  for (const [activity, used] of Object.entries(tokens.byAgent)) {
    const { paid: own } = used;
    const stored = [used.requests - own.replies, used.prompt - own.prompt, used.completion - own.completion];
    rows.push([
      terminalLine(activity),
      ...[own.replies, own.prompt, own.completion, ...(anyReused ? stored : [])].map(count),
    ]);
  }
  const tokenHead = ['prompt tokens', 'completion tokens'];
  const shortHead = ['prompt', 'completion'];
  const table = plainTable({
    head: ['activity', 'paid replies', ...tokenHead, ...(anyReused ? ['stored replies', ...tokenHead] : [])],
    shortHead: ['tokens', 'paid', ...shortHead, ...(anyReused ? ['stored', ...shortHead] : [])],
    rows,
    columns: width,
  });
  const reused = anyReused
    ? `, and ${count(tokens.prompt - paid.prompt)} + ${count(tokens.completion - paid.completion)} of stored replies that cost nothing here`
    : '';
  const total = `  paid: ${count(paid.prompt)} prompt + ${count(paid.completion)} completion tokens${reused} · requests: ${count(requests.sent)} sent, ${count(requests.reused)} reused`;
  const unmetered =
    tokens.unmetered > 0
      ? [
          `  without a token count, and so not in the totals: ${tokens.unmetered === 1 ? '1 reply' : `${count(tokens.unmetered)} replies`}`,
        ]
      : [];
  const perhaps = budget.possiblyCharged;
  const charged =
    perhaps.requests > 0
      ? [`  ${counted(perhaps.requests, 'request')} without a reply may have been charged: up to ${costText(perhaps)}`]
      : [];
  return [title('Cost'), ...(rows.length > 0 ? [table] : []), total, ...unmetered, ...charged, ...budgetLines(budget)];
}

/** Empty for a sweep that has neither a cap nor prices. */
function budgetLines({ settled, open, possiblyCharged, cap }: SweepReport['budget']): string[] {
  const used = { tokens: 0, microUsd: 0 };
  for (const part of [settled, open, possiblyCharged]) {
    used.tokens += part.tokens;
    used.microUsd += part.microUsd;
  }
  const parts = [
    ...(cap.tokens === null ? [] : [`${count(used.tokens)} of ${count(cap.tokens)} tokens`]),
    ...(cap.microUsd !== null
      ? [`${usd(used.microUsd)} of ${usd(cap.microUsd)}`]
      : used.microUsd > 0
        ? [usd(used.microUsd)]
        : []),
  ];
  if (parts.length === 0) return [];
  const underWay = open.tokens > 0 ? `, of it ${costText(open)} held by requests under way` : '';
  return [`  ${cap.tokens === null && cap.microUsd === null ? 'spent' : 'budget'}: ${parts.join(' and ')}${underWay}`];
}

function costText({ tokens, microUsd }: { tokens: number; microUsd: number }): string {
  return `${count(tokens)} tokens${microUsd > 0 ? ` (${usd(microUsd)})` : ''}`;
}
