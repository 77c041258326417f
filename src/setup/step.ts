/** `already`: nothing was to do. */
export type StepState = 'already' | 'done' | 'failed' | 'skipped';

export interface StepResult {
  state: StepState;
  /** What was done or found, in a few words. */
  did: string;
  /** What to do about a failure. */
  remedy?: string | undefined;
}
