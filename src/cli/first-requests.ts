import { generatorPrompt } from '../agents/generator.ts';
import { asCompletion } from '../agents/prompt-parts.ts';
import { requestKey } from '../models/request-key.ts';
import type { PreparedSweep } from './prepare-sweep.ts';

/**
 * Keys of the requests that a sweep sends whatever comes back: the generator's, one a run and prompt. All later ones depend on replies.
 * The same as `ask` makes them, which a test holds against each other.
 */
export function firstRequestKeys({ spec, benchmark, tasks, endpoint }: PreparedSweep): string[] {
  const { strategy, model: settings, seed, samples } = spec;
  const prompts = strategy.kind === 'zero-shot' ? 1 : strategy.diversified;
  const keys: string[] = [];
  for (const taskId of tasks) {
    const problem = benchmark.problem(taskId);
    for (let index = 0; index < prompts; index += 1) {
      const chat = generatorPrompt({ problem, prompt: index, api: settings.api });
      const prompt = settings.api === 'completions' ? asCompletion(chat) : chat;
      for (let sample = 0; sample < samples; sample += 1) {
        const request = { settings, prompt, seed, sample, retry: 0 };
        keys.push(requestKey({ request, endpointIdentity: endpoint.identity }));
      }
    }
  }
  return keys;
}
