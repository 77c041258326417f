import type { ModelSettings } from '../models/model.ts';

/**
 * True when every sample of a task asks the same request for its most likely reply: the temperature in force is 0, which is also what all
 * agents ask for by themselves. One set to null is not sent, and the endpoint's own counts.
 */
export function asksGreedily({ parameters, extraBody }: Pick<ModelSettings, 'parameters' | 'extraBody'>): boolean {
  const { temperature = 0 } = { ...parameters, ...extraBody };
  return temperature === 0;
}
