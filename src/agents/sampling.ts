import type { Prompt } from '../models/model.ts';

/** How CodeT, MPSC and ACES draw programs and tests. */
const TEMPERATURE = 0.8;
const TOP_P = 0.95;

/** A prompt that is asked many times for different answers. */
export function sampling(prompt: Prompt): Prompt {
  return { ...prompt, temperature: TEMPERATURE, topP: TOP_P };
}

/** More draws of one prompt never happen in a run. */
const DRAWS = 1000;

/**
 * The sample index of a draw's request. It does not depend on how many there are, so that 100 programs hold the 10 that were drawn first;
 * those of the first run are the samples of a zero-shot sweep with the same parameters, and share its replies.
 */
export function drawIndex({ sample, draw }: { sample: number; draw: number }): number {
  return sample * DRAWS + draw;
}
