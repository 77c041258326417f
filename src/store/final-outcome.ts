import type { Outcome } from '../activities/contract.ts';

/** Whether an outcome closes its run for good (architecture §7). */
const FINAL: Record<Outcome, boolean> = {
  pass: true,
  wrong: true,
  error: true,
  timeout: true,
  memory_limit: true,
  output_limit: true,
  no_code: true,
  refused: true,
  truncated: true,
  invalid_test: true,
  infra: false,
  budget_exhausted: false,
  cancelled: false,
};

export function isFinal(outcome: Outcome): boolean {
  return FINAL[outcome];
}

export function isOutcome(text: string): text is Outcome {
  return Object.hasOwn(FINAL, text);
}
