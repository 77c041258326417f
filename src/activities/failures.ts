import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ModelError } from '../models/model.ts';
import type { SandboxError } from '../sandbox/sandbox.ts';

/** Messages travel through histories in the clear and must stay small. */
const MESSAGE_CHARACTERS = 1000;

/** As in the retry policy of the model activities (`proxies.ts`). */
const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 15_000;

/**
 * An endpoint's failure as Temporal sees it. Retryable ones carry the wait that the endpoint asked for, but never a shorter one than the
 * usual backoff: an endpoint that always says "in a second" would use up all attempts within half a minute.
 */
export function modelFailure(error: ModelError): ApplicationFailure {
  const backoffMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (activityInfo().attempt - 1));
  return ApplicationFailure.create({
    type: `Model:${error.kind}`,
    message: error.message.slice(0, MESSAGE_CHARACTERS),
    nonRetryable: !error.retryable,
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: Math.max(error.retryAfterMs, backoffMs) }),
    ...(error.kind === 'rate_limited' ? { category: ApplicationFailureCategory.BENIGN } : {}),
  });
}

export function sandboxFailure(error: SandboxError): ApplicationFailure {
  return ApplicationFailure.create({ type: 'Sandbox', message: error.message.slice(0, MESSAGE_CHARACTERS) });
}

/** Something a retry cannot mend: a dataset that changed under a sweep, an unknown task. */
export function permanentFailure(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message: message.slice(0, MESSAGE_CHARACTERS), nonRetryable: true });
}
