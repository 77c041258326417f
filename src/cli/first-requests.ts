import { generatorPrompt } from '../agents/generator.ts';
import { asCompletion } from '../agents/prompt-parts.ts';
import { drawIndex, sampling } from '../agents/sampling.ts';
import { requestKey } from '../models/request-key.ts';
import type { PreparedSweep } from './prepare-sweep.ts';

/**
 * Keys of the requests that a sweep sends whatever comes back: the generator's, one a run and prompt (`select`: and draw). All later ones depend on replies.
 * The same as `ask` makes them, which a test holds against each other.
 */
export function firstRequestKeys({ spec, benchmark, tasks, endpoint }: PreparedSweep): string[] {
  const { strategy, model: settings, seed, samples } = spec;
  const prompts = strategy.kind === 'quality-flow' ? strategy.diversified : 1;
  const keys: string[] = [];
  for (const taskId of tasks) {
    const problem = benchmark.problem(taskId);
    for (let index = 0; index < prompts; index += 1) {
      const own = generatorPrompt({ problem, prompt: index, api: settings.api });
      const chat = strategy.kind === 'select' ? sampling(own) : own;
      const prompt = settings.api === 'completions' ? asCompletion(chat) : chat;
      for (let run = 0; run < samples; run += 1) {
        const indexes =
          strategy.kind === 'select'
            ? Array.from({ length: strategy.programs }, (_, draw) => drawIndex({ sample: run, draw }))
            : [run];
        for (const sample of indexes) {
          const request = { settings, prompt, seed, sample, retry: 0 };
          keys.push(requestKey({ request, endpointIdentity: endpoint.identity }));
        }
      }
    }
  }
  return keys;
}
