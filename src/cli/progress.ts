import { counted, cut } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { isFinal, isOutcome } from '../store/final-outcome.ts';

/** A sweep at one moment, as the store and Temporal know it. */
export interface Snapshot {
  sweep: string;
  planned: number;
  /** Rows by outcome. */
  counts: Readonly<Record<string, number>>;
  running: readonly { taskId: string; stage: string }[];
  requests: { sent: number; reused: number };
  /** Of the replies that this sweep has paid for. */
  tokens: number;
  /** What stands in its way, and its budget: a line each (`standing`). */
  standing: readonly string[];
  /** Since this command began to look. */
  elapsedMs: number;
  /** Final rows that were there when it began: they say nothing about the pace. */
  doneBefore: number;
}

const BAR_WIDTH = 30;
const SHOWN_RUNNING = 6;

/** The block that a terminal shows and rewrites: four lines, and what stands in its way, none wider than `columns`. */
export function progressBlock(snapshot: Snapshot, columns: number): string {
  const { planned, running } = snapshot;
  const done = finishedOf(snapshot.counts);
  const filled = planned === 0 ? 0 : Math.round((BAR_WIDTH * done) / planned);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
  const lines = [
    `${snapshot.sweep}  ${bar}  ${done}/${planned}  ${timing(snapshot)}`,
    outcomesOf(snapshot),
    usageOf(snapshot),
    ...(running.length === 0 ? [] : [`running ${running.length}: ${runningOf(snapshot)}`]),
    ...snapshot.standing,
  ];
  return lines.map((line) => cut(terminalLine(line), columns)).join('\n');
}

/** The same as one line, for logs. */
export function progressLine(snapshot: Snapshot): string {
  const parts = [
    `${snapshot.sweep} ${finishedOf(snapshot.counts)}/${snapshot.planned}`,
    outcomesOf(snapshot),
    `running ${snapshot.running.length}`,
    usageOf(snapshot),
    ...snapshot.standing,
    timing(snapshot),
  ];
  return terminalLine(parts.join(' | '));
}

/** Rows with a final outcome: what is not final is tried again by a resume. */
export function finishedOf(counts: Readonly<Record<string, number>>): number {
  const final = Object.entries(counts).filter(([outcome]) => isOutcome(outcome) && isFinal(outcome));
  return final.reduce((sum, [, rows]) => sum + rows, 0);
}

function outcomesOf({ counts }: Snapshot): string {
  const named = Object.entries(counts).filter(([, count]) => count > 0);
  return named.length === 0 ? 'no outcome yet' : named.map(([outcome, count]) => `${outcome} ${count}`).join(' · ');
}

function usageOf({ requests, tokens }: Snapshot): string {
  const reused = requests.reused === 0 ? '' : `, ${grouped(requests.reused)} reused`;
  return `${counted(requests.sent, 'request')} sent${reused} · ${counted(tokens, 'token')}`;
}

function runningOf({ running }: Snapshot): string {
  const shown = running.slice(0, SHOWN_RUNNING).map(({ taskId, stage }) => `${taskId} ${stage}`);
  const rest = running.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}

/** Elapsed, and how long the rest takes at the pace since this command began; no guess before three have ended. */
function timing(snapshot: Snapshot): string {
  const ended = finishedOf(snapshot.counts) - snapshot.doneBefore;
  const left = snapshot.planned - finishedOf(snapshot.counts);
  const eta = ended >= 3 && left > 0 ? `, about ${duration((snapshot.elapsedMs / ended) * left)} left` : '';
  return `${duration(snapshot.elapsedMs)}${eta}`;
}

/** `42s`, `3m05s`, `2h07m`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

/** 1234567 → `1,234,567`, the same in every locale. */
export function grouped(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
