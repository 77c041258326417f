import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { exceedsContext } from '../agents/context-budget.ts';
import type { Unextracted } from '../agents/extract-program.ts';
import { asCompletion } from '../agents/prompt-parts.ts';
import { type Asked, askModel, BudgetExhausted } from '../models/ask-model.ts';
import { replyLimit } from '../models/cost.ts';
import { type Account, ModelError, type ModelReply, type ModelRequest, type Prompt } from '../models/model.ts';
import { requestBody } from '../models/request-key.ts';
import type { SweepPlan } from '../store/store.ts';
import type { Held, ModelContext, ReplyRef, Unusable } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { modelFailure, permanentFailure } from './failures.ts';
import { holdOf } from './hold.ts';
import { requirePlan } from './sweep-dataset.ts';

/** A longer wait than this is the workflow's: it holds no slot on a durable timer. */
const LONGEST_WAIT_MS = 10 * 60_000;
/** Of prompt and reply in a history; the whole text is in the store. */
const PREVIEW_CHARACTERS = 3000;

export interface Question<Answer> {
  context: ModelContext;
  /** Activity name, for `show`. */
  activity: string;
  prompt: Prompt;
  /** Index of the request's sample, where it is not the run's. */
  sample?: number | undefined;
  read: (reply: ModelReply) => Answer | Unextracted;
}

/**
 * One model request of an agent: refused before it is sent when it cannot fit the declared context; answered from the store or the endpoint;
 * read; noted as a step of its problem. What cannot be used, and what the endpoint refuses for this request alone, is data; a failure
 * of the endpoint is thrown for Temporal to retry. One that no retry can mend (a bad key, an unknown model, a used-up quota) blocks the
 * sweep and holds, so that only the requests already under way still go out. Without room in the sweep's budget nothing is sent: it holds
 * while others may leave some, and fails as `budget_exhausted` when nothing can.
 */
export async function ask<Answer extends { kind: string }>(
  deps: Dependencies,
  { context, activity, prompt: chat, sample: index, read }: Question<Answer>,
): Promise<(Answer & { reply: ReplyRef }) | Unusable | Held> {
  const { model, run, step } = context;
  const prompt = model.api === 'completions' ? asCompletion(chat) : chat;
  const request: ModelRequest = {
    settings: model,
    prompt,
    seed: context.seed,
    sample: index ?? run.sample,
    retry: context.retry,
  };
  const maxTokens = replyLimit(requestBody(request)) ?? prompt.maxTokens;
  if (
    model.contextTokens !== undefined &&
    exceedsContext({ messages: prompt.messages, maxTokens, contextTokens: model.contextTokens })
  ) {
    return {
      kind: 'unusable',
      reason: 'context_too_long',
      detail: `the prompt and ${maxTokens} tokens of reply do not fit into ${model.contextTokens} tokens`,
    };
  }

  const startedAt = new Date();
  const began = performance.now();
  const stepName = context.retry === 0 ? step : `${step}/again`;
  const { workflowExecution, activityId, attempt } = activityInfo();
  const { sweep, taskId, sample } = run;
  const account = {
    sweep,
    taskId,
    sample,
    step: stepName,
    attempt: `${workflowExecution?.runId ?? ''}/${activityId}/${attempt}`,
  };
  const asked = await send(deps, { request, account, endpointIdentity: context.endpointIdentity });
  if (asked.kind !== 'reply') return asked;
  const { key, reused, reply } = asked;
  const answer = read(reply);
  await deps.store.recordStep({
    run,
    step: stepName,
    activity,
    replyKey: key,
    reused,
    result: JSON.stringify(answer),
    startedAt: startedAt.toISOString(),
    durationMs: Math.round(performance.now() - began),
  });
  const ref: ReplyRef = {
    key,
    tokens: { prompt: reply.usage?.prompt ?? 0, completion: reply.usage?.completion ?? 0 },
    reused,
    prompt: preview(prompt.messages.map(({ role, content }) => `${role}: ${content}`).join('\n\n')),
    reply: preview(reply.text),
  };
  return isUnextracted(answer) ? { ...answer, reply: ref } : { ...answer, reply: ref };
}

async function send(
  deps: Dependencies,
  { request, account, endpointIdentity }: { request: ModelRequest; account: Account; endpointIdentity: string },
): Promise<Asked | Unusable | Held> {
  const endpoint = deps.endpoint(request.settings.endpoint);
  if (endpoint.identity !== endpointIdentity) {
    throw permanentFailure(
      'EndpointChanged',
      `the sweep was planned on ${endpointIdentity}, but this worker's environment leads to ${endpoint.identity}: resume it from a shell with the right OPENAI_BASE_URL`,
    );
  }
  const plan = await requirePlan(deps, account.sweep);
  const { prices, maxWaitMs } = plan.spec;
  try {
    const asked = await askModel({
      request,
      endpoint,
      replies: deps.store,
      signal: cancellationSignal(),
      billing: { ledger: deps.store, account, prices },
    });
    if (asked.kind === 'reply') return asked;
    return { kind: 'held', reason: 'budget', detail: 'requests under way hold the rest of the budget' };
  } catch (error) {
    if (error instanceof BudgetExhausted) throw permanentFailure('budget_exhausted', error.message);
    if (!(error instanceof ModelError)) throw error;
    switch (error.kind) {
      case 'rejected':
      case 'context_too_long':
        return { kind: 'unusable', reason: error.kind, detail: error.message.slice(0, 500) };
      case 'unauthorized':
      case 'unknown_model':
      case 'quota':
        return block(deps, plan, error);
      case 'rate_limited':
      case 'unavailable':
        if (error.retryAfterMs !== undefined && error.retryAfterMs > Math.min(LONGEST_WAIT_MS, maxWaitMs)) {
          const until = new Date(Date.now() + error.retryAfterMs).toISOString();
          const detail = error.message.slice(0, 500);
          return { kind: 'held', reason: 'paced', detail, until, waitMs: error.retryAfterMs };
        }
        throw modelFailure(error);
      default:
        throw modelFailure(error);
    }
  }
}

/**
 * The first who finds out blocks the sweep; whoever comes later finds it held. A sweep that was resumed after `plan` was read, and so perhaps
 * after the request was sent, is not blocked by an error of before: the problem is held all the same, and asks again. A sweep that
 * has ended meanwhile has nothing to hold.
 */
async function block(deps: Dependencies, { name, updatedAt }: SweepPlan, error: ModelError): Promise<Held> {
  const detail = error.message.slice(0, 500);
  const from = ['created', 'running'] as const;
  await deps.store.setSweepState(name, 'blocked', { reason: detail, from, unchangedSince: updatedAt });
  const held = await holdOf(deps, name);
  if (held !== undefined) return held;
  const { state } = await requirePlan(deps, name);
  if (from.some((one) => one === state)) return { kind: 'held', reason: 'blocked', detail };
  throw modelFailure(error);
}

function isUnextracted(answer: { kind: string }): answer is Unextracted {
  return answer.kind === 'unusable';
}

/** Beginning and end, well-formed, so that a history stays small and readable. */
function preview(text: string): string {
  const whole = text.slice(0, 1_000_000).toWellFormed();
  if (whole.length <= PREVIEW_CHARACTERS) return whole;
  return `${whole.slice(0, PREVIEW_CHARACTERS * 0.6)}\n… ${whole.length - PREVIEW_CHARACTERS} characters …\n${whole.slice(-PREVIEW_CHARACTERS * 0.4)}`.toWellFormed();
}
