import type { OutcomeRow } from '../store/store.ts';

/** How one run of a sweep ended, in a line of `report --tasks`. */
export interface RunOutcome {
  task: string;
  sample: number;
  /** An `Outcome`, or `not_run`. */
  outcome: string;
  /** Step at which it ended; empty when it did not run. */
  step: string;
  /** Why, in short; `show` has all of it. */
  detail: string;
}

/** A report holds as many as the sweep has runs. */
const DETAIL_CHARACTERS = 200;

export function openRun(task: string, sample: number): RunOutcome {
  return { task, sample, outcome: 'not_run', step: '', detail: '' };
}

export function runOutcome({ run, outcome, finalStep, detail }: OutcomeRow): RunOutcome {
  return {
    task: run.taskId,
    sample: run.sample,
    outcome,
    step: finalStep,
    detail: detail.slice(0, DETAIL_CHARACTERS).toWellFormed(),
  };
}
