import { ApplicationFailure } from '@temporalio/common';
import type { RequestEnd } from './adaptive-limit.ts';
import { ask, type Question } from './ask.ts';
import type { Held, ReplyRef, Unusable } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { holdOf } from './hold.ts';

/** `ask`, unless the sweep is held; how the request ended is told to the limit of its endpoint. */
export async function askUnlessHeld<Answer extends { kind: string }>(
  deps: Dependencies,
  question: Question<Answer>,
): Promise<(Answer & { reply: ReplyRef }) | Unusable | Held> {
  const { run, model } = question.context;
  const held = await holdOf(deps, run.sweep);
  if (held !== undefined) return held;
  const startedAtMs = performance.now();
  const report = (kind: RequestEnd['kind'], completionTokens?: number) =>
    deps.reportRequest(model.endpoint, { kind, startedAtMs, completionTokens });
  try {
    const answer = await ask(deps, question);
    if ('reply' in answer && answer.reply?.reused === false) report('answered', answer.reply.tokens.completion);
    else if (answer.kind === 'held' && 'reason' in answer && answer.reason === 'paced') report('rate_limited');
    return answer;
  } catch (error) {
    if (error instanceof ApplicationFailure) {
      if (error.type === 'Model:rate_limited') report('rate_limited');
      else if (error.type === 'Model:unavailable') report('unavailable');
    }
    throw error;
  }
}
