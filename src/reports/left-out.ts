import type { OutcomeRow } from '../store/store.ts';
import { counted } from './terminal.ts';
import { stateAt } from './trail.ts';

/**
 * Runs that the checker's table and the funnel do not hold, and why. `planned` = what the funnel counts + Σ `withoutProgram` + `unchecked` +
 * `unfinished`; the checker's matrix of the final state lacks `unjudged` besides.
 */
export interface LeftOut {
  /** Ended without any program, by outcome (`no_code`, `refused`, `truncated`). */
  withoutProgram: Record<string, number>;
  /** Have programs that no checker has looked at. */
  unchecked: number;
  /** Checked, but the benchmark's own tests could not judge the submission (`invalid_test`). */
  unjudged: number;
  unfinished: number;
}

export function nothingLeftOut(): LeftOut {
  return { withoutProgram: {}, unchecked: 0, unjudged: 0, unfinished: 0 };
}

/** Counts one run with a final outcome. */
export function countLeftOut(leftOut: LeftOut, row: OutcomeRow): void {
  if (row.trail.length === 0) leftOut.withoutProgram[row.outcome] = (leftOut.withoutProgram[row.outcome] ?? 0) + 1;
  else if (row.trail.every((entry) => entry.accepted === null)) leftOut.unchecked++;
  else if (stateAt(row, 'final')?.program.graded.verdict === 'invalid_test') leftOut.unjudged++;
}

/** For people; empty when nothing is left out. */
export function leftOutText({ withoutProgram, unchecked, unjudged, unfinished }: LeftOut): string {
  const outcomes = Object.entries(withoutProgram);
  const without = outcomes.reduce((sum, [, runs]) => sum + runs, 0);
  const which = outcomes.map(([outcome, runs]) => `${outcome} ${runs}`).join(', ');
  return [
    ...(without > 0 ? [`${counted(without, 'run')} without a program (${which})`] : []),
    ...(unchecked > 0 ? [`${counted(unchecked, 'run')} without a check`] : []),
    ...(unjudged > 0 ? [`${counted(unjudged, 'run')} that the benchmark's own tests could not judge`] : []),
    ...(unfinished > 0 ? [`${counted(unfinished, 'unfinished run')}`] : []),
  ].join(', ');
}
