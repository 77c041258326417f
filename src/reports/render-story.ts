import { isDeepStrictEqual } from 'node:util';
import type { Graded } from '../grading/verdict.ts';
import { outcomeName } from './outcome-text.ts';
import type { ProblemStory, StoryGroup, StoryStep } from './story.ts';
import { count, counted, cut, duration, type Paint, painter, type RenderOptions, terminalColumns } from './terminal.ts';
import { terminalLine, terminalSafe } from './terminal-safe.ts';

/** Lines shown at each end of a long text, unless all is asked for. */
const HEAD_LINES = 14;
const TAIL_LINES = 6;

/** What is more than some screens of steps is shown in short, in about one. */
const MANY_LINES = 120;
const SHORT_LINES = 30;

/**
 * `show NAME TASK`: every step in order; `full` shows every prompt message and every text whole. Of a long story `brief` shows only some steps of
 * each stage, a line each, and says how to see the others.
 */
export function renderProblem(
  story: ProblemStory,
  options: RenderOptions & { full: boolean; brief?: boolean },
): string {
  const context = { paint: painter(options.color), full: options.full, width: terminalColumns(options.width) };
  const all = storyLines(story, context, (group) =>
    group.steps.flatMap((step, at) => stepLines(step, group.steps[at - 1], context)),
  );
  if (options.brief !== true || options.full || all.length <= MANY_LINES) return `${all.join('\n')}\n`;
  const each = Math.max(2, Math.floor(SHORT_LINES / story.groups.length));
  const short = storyLines(story, context, (group) => groupInShort(group, each, context));
  const remedy = `Shown in short, as all of it takes ${count(all.length)} lines: --steps shows every step, --full every text whole.`;
  return `${[...short, '', context.paint('yellow', remedy)].join('\n')}\n`;
}

function storyLines(story: ProblemStory, context: Context, stepsOf: (group: StoryGroup) => string[]): string[] {
  const { paint } = context;
  const scripted = story.scripted ? paint('yellow', '  (scripted model: not a measurement)') : '';
  const attempts = new Set(story.groups.map((group) => group.attempt)).size;
  const lines = [
    `${paint(['bold', 'cyan'], `${terminalLine(story.sweep)} › ${terminalLine(story.taskId)}`)}  sample ${story.sample}${scripted}`,
  ];
  for (const group of story.groups) {
    const attempt = attempts > 1 ? `  attempt ${group.attempt}` : '';
    lines.push(
      '',
      paint(['bold', 'inverse'], ` ${terminalLine(group.stage)} `) +
        paint('dim', `  ${counted(group.steps.length, 'step')}${attempt}`),
    );
    lines.push(...stepsOf(group));
  }
  if (story.groups.length === 0) lines.push('', 'No step of this problem is recorded yet.');
  lines.push('', ...endLines(story, context));
  return lines;
}

/** Its first steps and its last one, `most` lines in all where more would be needed. */
function groupInShort({ steps }: StoryGroup, most: number, { paint, width }: Context): string[] {
  const line = ({ step, result }: StoryStep) =>
    cut(`● ${terminalLine(step)}  → ${terminalLine(result.summary)}`, width);
  if (steps.length <= most) return steps.map(line);
  const shown = most - 1;
  const between = paint('dim', `┆ … ${counted(steps.length - shown, 'step')} more`);
  return [...steps.slice(0, shown - 1).map(line), between, ...steps.slice(-1).map(line)];
}

interface Context {
  paint: Paint;
  full: boolean;
  width: number;
}

/** A prompt that is asked many times is shown once. */
function stepLines(step: StoryStep, before: StoryStep | undefined, context: Context): string[] {
  const { paint } = context;
  const lines = [`${paint('bold', `● ${terminalLine(step.step)}`)}  ${paint('dim', cost(step))}`];
  if (step.exchange !== null) {
    const { messages, text, reasoning, kind, finishReason, prompt } = step.exchange;
    const same = !context.full && isDeepStrictEqual(messages, before?.exchange?.messages);
    const shown = context.full ? messages : same ? [] : messages.slice(-1);
    if (same) lines.push(paint('dim', `  prompt ${terminalLine(prompt)} as in the step before`));
    for (const message of shown) {
      lines.push(...labelled(`prompt ${prompt}, ${message.role}`, message.content, context));
    }
    const hidden = messages.length - shown.length;
    if (hidden > 0 && !same) lines.push(paint('dim', `  (${counted(hidden, 'earlier message')}: --full)`));
    if (reasoning !== '') lines.push(...labelled('reasoning', reasoning, context));
    lines.push(...labelled(kind === 'ok' ? 'reply' : `reply, ${kind} (${finishReason})`, text, context));
  }
  const { summary, rule, text } = step.result;
  // A program that stands in the reply letter for letter need not be read twice.
  const repeated =
    !context.full && text !== undefined && text !== '' && step.exchange?.text.includes(text.trim()) === true;
  lines.push(
    `  ${paint('cyan', '→')} ${terminalLine(bounded(summary, context))}${repeated ? ', as in the reply' : ''}${rule === undefined ? '' : paint('dim', `  by rule ${terminalLine(rule)}`)}`,
  );
  if (text !== undefined && text !== '' && !repeated) lines.push(...indented(text, context));
  return lines;
}

function cost(step: StoryStep): string {
  const parts = [step.activity, duration(step.exchange?.latencyMs ?? step.durationMs)];
  if (step.exchange !== null) {
    const { tokens, reused } = step.exchange;
    parts.push(
      tokens === null ? 'tokens not reported' : `${count(tokens.prompt)} + ${count(tokens.completion)} tokens`,
    );
    if (reused) parts.push('reused');
  }
  return parts.map(terminalLine).join(' · ');
}

function endLines({ outcome, usage }: ProblemStory, context: Context): string[] {
  const { paint } = context;
  const total = `${count(usage.prompt)} + ${count(usage.completion)} tokens · ${counted(usage.sent, 'request')} sent, ${count(usage.reused)} reused`;
  if (outcome === null) return [paint('bold', 'no outcome yet'), `  ${total}`];
  const lines = [paint('bold', 'Programs against the hidden tests')];
  for (const [i, entry] of outcome.trail.entries()) {
    const accepted = entry.accepted === null ? 'not checked' : entry.accepted ? 'accepted' : 'rejected';
    const mark = i === outcome.submission ? paint('bold', '◀ submitted') : '';
    lines.push(
      `  ${terminalLine(entry.step)}/${entry.progression}${entry.round > 0 ? `/${entry.round}` : ''}  ${accepted}  ${gradeText(entry.graded)} ${mark}`,
    );
  }
  if (outcome.trail.length === 0) lines.push('  nothing was graded');
  lines.push(
    `${paint('bold', 'Outcome')}  ${outcomeName(outcome.outcome, paint)}  ended at ${terminalLine(outcome.finalStep)}`,
  );
  const failure = outcome.submission === null ? undefined : outcome.trail[outcome.submission]?.graded.firstFailure;
  if (failure !== undefined) {
    const seen = [
      failure.exception,
      failure.expected && `expected ${failure.expected}`,
      failure.actual && `got ${failure.actual}`,
    ];
    lines.push(
      ...indented([failure.test, ...seen.filter((part) => part !== undefined && part !== '')].join('\n'), context),
    );
  }
  if (outcome.detail !== '') lines.push(...indented(outcome.detail, context));
  lines.push(`  ${total}`);
  return lines;
}

function gradeText(graded: Graded): string {
  return `${graded.verdict} ${graded.passed}/${graded.tests}`;
}

function labelled(label: string, text: string, context: Context): string[] {
  return [`  ${context.paint('dim', terminalLine(label))}`, ...indented(text, context)];
}

/** A text as harmless, indented lines; the middle of a long one is left out with a word on how much. */
function indented(text: string, context: Context): string[] {
  const all = text.trimEnd().split('\n');
  const omitted = all.length - HEAD_LINES - TAIL_LINES;
  const cut = !context.full && omitted > 1;
  const line = (raw: string) => `  ${context.paint('dim', '│')} ${terminalSafe(bounded(raw, context))}`;
  if (!cut) return all.map(line);
  return [
    ...all.slice(0, HEAD_LINES).map(line),
    context.paint('dim', `  ┆ … ${count(omitted)} lines more: --full`),
    ...all.slice(-TAIL_LINES).map(line),
  ];
}

/** A line of at most a few rows of the screen. */
function bounded(line: string, { full, width }: Context): string {
  const most = width * 4;
  if (full || line.length <= most) return line;
  return `${line.slice(0, most).toWellFormed()} … ${count(line.length - most)} characters more: --full`;
}
