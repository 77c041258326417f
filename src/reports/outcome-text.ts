import { count, type Paint } from './terminal.ts';
import { terminalLine } from './terminal-safe.ts';

/** Order and colour of outcomes wherever they are listed: verdicts, then no answer, then what is still open. */
const STYLES: Record<string, Parameters<Paint>[0]> = {
  pass: 'green',
  wrong: 'red',
  error: 'red',
  timeout: 'red',
  memory_limit: 'red',
  output_limit: 'red',
  no_code: 'magenta',
  refused: 'magenta',
  truncated: 'magenta',
  invalid_test: 'yellow',
  infra: 'yellow',
  budget_exhausted: 'yellow',
  cancelled: 'yellow',
  not_run: 'dim',
};

export const OUTCOME_NAMES: readonly string[] = Object.keys(STYLES);

export function outcomeName(outcome: string, paint: Paint): string {
  return paint((Object.hasOwn(STYLES, outcome) && STYLES[outcome]) || 'reset', terminalLine(outcome));
}

export function outcomeText(outcomes: Record<string, number>, paint: Paint): string {
  const known = Object.keys(STYLES).filter((outcome) => Object.hasOwn(outcomes, outcome));
  const others = Object.keys(outcomes).filter((outcome) => !Object.hasOwn(STYLES, outcome));
  const parts = [...known, ...others].map((outcome) =>
    paint(
      (Object.hasOwn(STYLES, outcome) && STYLES[outcome]) || 'reset',
      `${terminalLine(outcome)} ${count(outcomes[outcome] ?? 0)}`,
    ),
  );
  return parts.join(' · ') || 'nothing yet';
}
