import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { generatorPrompt, readProgram } from '../agents/generator.ts';
import { drawIndex, sampling } from '../agents/sampling.ts';
import { readTests, testDesignerPrompt } from '../agents/test-designer.ts';
import { askUnlessHeld as ask } from './ask-unless-held.ts';
import type { BatchContext, Drawn, Held, ModelActivities, ModelContext, ReplyRef, Unusable } from './contract.ts';
import type { Dependencies } from './dependencies.ts';

/** As in `workflows/steps.ts`, whose bundle holds no code of activities. */
const HOPELESS = new Set<Unusable['reason']>(['context_too_long', 'rejected']);

/**
 * Many draws of one prompt. Every reply is stored, and its step recorded, before the next is asked for: whatever ends a batch, its next attempt
 * pays only for what is missing. One that is held gives up what it has: it is found again. One that meets a failure of the endpoint hands over what it has, so
 * that the workflow's next call begins there, with attempts of its own.
 */
export function batchActivities(deps: Dependencies): Pick<ModelActivities, 'drawPrograms' | 'drawTests'> {
  return {
    drawPrograms: ({ context, problem, from, count }) =>
      draw({ context, from, count, name: 'program' }, (index, step) => {
        const { api } = context.model;
        return ask(deps, {
          context: step,
          activity: 'drawPrograms',
          prompt: sampling(generatorPrompt({ problem, prompt: 0, complaint: step.complaint, api })),
          sample: drawIndex({ sample: context.run.sample, draw: index }),
          read: (reply) => readProgram({ reply, problem, api }),
        });
      }),

    // A query's number is in its text: no two ask the same.
    drawTests: ({ context, problem, from, count, perQuery }) =>
      draw({ context, from, count, name: 'tests' }, (query, step) =>
        ask(deps, {
          context: step,
          activity: 'drawTests',
          prompt: sampling(testDesignerPrompt({ problem, query, count: perQuery, complaint: step.complaint })),
          read: (reply) => readTests({ reply, problem, count: perQuery }),
        }),
      ),
  };
}

async function draw(
  { context, from, count, name }: { context: BatchContext; from: number; count: number; name: string },
  send: (index: number, context: ModelContext) => Promise<{ kind: string; reply: ReplyRef } | Unusable | Held>,
): Promise<Drawn | Held> {
  const drawn: Drawn = { kind: 'drawn', steps: [], recorded: [] };
  for (let index = from; index < from + count; index++) {
    const step = `${name}/${index}`;
    let complaint: string | undefined;
    for (const retry of [0, 1]) {
      cancellationSignal().throwIfAborted();
      const answer = await send(index, { ...context, step, retry, complaint }).catch((error: unknown) => {
        if (index === from || !(error instanceof ApplicationFailure) || error.nonRetryable === true) throw error;
        return undefined;
      });
      if (answer === undefined) return { ...drawn, next: index };
      if (isHeld(answer)) return answer;
      const row = retry === 0 ? step : `${step}/again`;
      if (answer.reply !== undefined) drawn.recorded.push(row);
      if (!isUnusable(answer)) {
        drawn.steps.push(row);
        break;
      }
      if (drawn.unusable === undefined || (answer.reason === 'rejected' && drawn.unusable.reason !== 'rejected'))
        drawn.unusable = { kind: 'unusable', reason: answer.reason, detail: answer.detail };
      if (HOPELESS.has(answer.reason)) break;
      complaint = answer.detail;
    }
  }
  return drawn;
}

function isHeld(answer: { kind: string }): answer is Held {
  return answer.kind === 'held';
}

function isUnusable(answer: { kind: string }): answer is Unusable {
  return answer.kind === 'unusable';
}
