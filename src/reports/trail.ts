import type { Step } from '../activities/contract.ts';
import type { Strategy } from '../spec/spec.ts';
import type { OutcomeRow } from '../store/store.ts';

/** The points at which a sweep is scored, in order (algorithms 1.6 Q). */
export const REPORT_STEPS = ['zeroShot', 'generated', 'debug1', 'debug2', 'debug3', 'clarified', 'final'] as const;
export type ReportStep = (typeof REPORT_STEPS)[number];

type Entry = OutcomeRow['trail'][number];

/** What would have been submitted at a step, and the checker's word on it; null where nothing was checked. */
export interface SubmittedState {
  program: Entry;
  accepted: boolean | null;
}

const ORDER: Record<Step, number> = { generated: 1, debug1: 2, debug2: 3, debug3: 4, clarified: 5, selected: 6 };

/**
 * The state of a run at a step: the first program accepted so far, in the order of the trail (1.6 D), else the latest program of
 * progression 0 (1.6 E), or of the lowest progression that has one when prompt 0 gave no program. `zeroShot` is generator prompt 0
 * alone. `final` is the submission; a reverted one counts as rejected. Undefined when there was no program.
 */
export function stateAt(
  row: Pick<OutcomeRow, 'trail' | 'submission' | 'finalStep'>,
  step: ReportStep,
): SubmittedState | undefined {
  if (step === 'final') {
    const program = row.submission === null ? undefined : row.trail[row.submission];
    return program && { program, accepted: row.finalStep === 'reverted' ? false : program.accepted };
  }
  if (step === 'zeroShot') {
    const program = row.trail.find((entry) => entry.step === 'generated' && entry.progression === 0);
    return program && { program, accepted: program.accepted };
  }
  const soFar = row.trail.filter((entry) => ORDER[entry.step] <= ORDER[step]);
  const accepted = soFar.find((entry) => entry.accepted === true);
  if (accepted !== undefined) return { program: accepted, accepted: true };
  const progression = Math.min(...soFar.map((entry) => entry.progression));
  const program = soFar.findLast((entry) => entry.progression === progression);
  return program && { program, accepted: program.accepted };
}

/** Five programs at most: the submission, always, so that pass@5 is never below pass@1, and the others that were made last. */
export function lastFive({ trail, submission }: Pick<OutcomeRow, 'trail' | 'submission'>): Entry[] {
  const submitted = submission === null ? undefined : trail[submission];
  if (submitted === undefined) return trail.slice(-5);
  return [submitted, ...trail.filter((_, index) => index !== submission).slice(-4)];
}

/** The steps of a report that a strategy has no stage for. */
export function stepsWithout(strategy: Strategy): ReportStep[] {
  if (strategy.kind !== 'quality-flow') return [];
  const debug = (['debug1', 'debug2', 'debug3'] as const).slice(strategy.debugEpochs);
  return strategy.clarifier ? debug : [...debug, 'clarified'];
}
