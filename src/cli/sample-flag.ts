import { UserError } from './user-error.ts';

/** `--sample` of a command that is about one run of a task. */
export function sampleOf(text: string, samples: number): number {
  const sample = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  if (sample >= 0 && sample < samples) return sample;
  throw new UserError({
    message: `--sample ${JSON.stringify(text)} is not one of this sweep's`,
    remedy: samples === 1 ? 'It has one sample a task, number 0' : `Its samples are 0 to ${samples - 1}`,
    exitCode: 2,
  });
}
