import { z } from 'zod';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { askJudge } from './judge-job.ts';

/** `prediction`: one Python expression a model wrote. `comparison`: the original assertion over `__prediction__`. */
interface Prediction {
  prediction: string;
  comparison: string;
}

/** The judge script stops each prediction after 2 s; what it cannot interrupt ends with the job. */
const JOB_SECONDS = 5;

/**
 * Imagined Execution's last step (App. G): true where the predicted *value* satisfies the assertion. The candidate program is not
 * present. Anything that is not one evaluable expression, raises, or does not end is false, and costs its neighbours nothing.
 */
export async function comparePredictions(job: {
  sandbox: Sandbox;
  predictions: Prediction[];
  signal?: AbortSignal | undefined;
}): Promise<boolean[]> {
  const { sandbox, predictions, signal } = job;
  if (predictions.length === 0) return [];
  const answer = await askJudge({
    sandbox,
    script: 'predict',
    input: predictions,
    reply: z.array(z.boolean()).length(predictions.length),
    trust: 'model',
    seconds: JOB_SECONDS,
    signal,
  });
  if (answer.kind === 'reply') return answer.reply;
  if (predictions.length === 1) return [false];
  const middle = predictions.length >> 1;
  const first = await comparePredictions({ sandbox, predictions: predictions.slice(0, middle), signal });
  const second = await comparePredictions({ sandbox, predictions: predictions.slice(middle), signal });
  return [...first, ...second];
}
