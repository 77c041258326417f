import type { OutcomeRow } from '../store/store.ts';

/** How one run of a sweep ended, in a line of `report --tasks`. */
export interface RunOutcome {
  task: string;
  sample: number;
  /** An `Outcome`, or `not_run`. */
  outcome: string;
  /** Step at which it ended; empty when it did not run. */
  step: string;
  /** Why: the recorded reason, else the first hidden test that the submission failed. Short; `show` has it whole. */
  detail: string;
}

/** A report holds as many as the sweep has runs. */
const DETAIL_CHARACTERS = 200;

export function openRun(task: string, sample: number): RunOutcome {
  return { task, sample, outcome: 'not_run', step: '', detail: '' };
}

export function runOutcome({ run, outcome, finalStep, detail, trail, submission }: OutcomeRow): RunOutcome {
  const failure = submission === null ? undefined : trail[submission]?.graded.firstFailure;
  const failed = failure === undefined ? '' : [failure.test, failure.exception ?? ''].filter(Boolean).join(': ');
  return {
    task: run.taskId,
    sample: run.sample,
    outcome,
    step: finalStep,
    detail: (detail === '' ? failed : detail).slice(0, DETAIL_CHARACTERS).toWellFormed(),
  };
}
