import type { SubmittedState } from './trail.ts';

/** The code quality checker as a classifier of the submitted state: positive = accepted, true = passes the hidden tests (Table 4). */
export interface Confusion {
  tp: number;
  fp: number;
  fn: number;
  tn: number;
}

export function emptyConfusion(): Confusion {
  return { tp: 0, fp: 0, fn: 0, tn: 0 };
}

/** Counts a state. What was never checked, and what the benchmark's own tests could not judge, is not counted. */
export function countState(matrix: Confusion, state: SubmittedState | undefined): void {
  if (state === undefined || state.accepted === null || state.program.graded.verdict === 'invalid_test') return;
  const right = state.program.graded.verdict === 'pass';
  if (state.accepted) matrix[right ? 'tp' : 'fp']++;
  else matrix[right ? 'fn' : 'tn']++;
}

/** Shares as Table 4 prints them; null where the denominator is zero. */
export interface ConfusionRates {
  accuracy: number | null;
  precision: number | null;
  recall: number | null;
  specificity: number | null;
  accepted: number | null;
}

export function confusionRates({ tp, fp, fn, tn }: Confusion): ConfusionRates {
  const share = (part: number, whole: number) => (whole === 0 ? null : part / whole);
  const all = tp + fp + fn + tn;
  return {
    accuracy: share(tp + tn, all),
    precision: share(tp, tp + fp),
    recall: share(tp, tp + fn),
    specificity: share(tn, tn + fp),
    accepted: share(tp + fp, all),
  };
}
