import type { SweepSpec } from '../spec/spec.ts';
import { asksGreedily } from '../statistics/greedy.ts';
import { type Context, note } from './context.ts';

/** Said before several samples of one and the same greedy request are paid for. */
export function warnGreedy(context: Context, { samples, model }: Pick<SweepSpec, 'samples' | 'model'>): void {
  if (samples === 1 || !asksGreedily(model)) return;
  note(
    context,
    `Warning: all ${samples} samples of a task ask the same greedy request (temperature 0), so pass@k with k > 1 will say nothing: set model.parameters.temperature in the spec.`,
  );
}
