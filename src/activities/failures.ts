import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ModelError } from '../models/model.ts';
import type { SandboxError } from '../sandbox/sandbox.ts';

/** Messages travel through histories in the clear and must stay small. */
const MESSAGE_CHARACTERS = 1000;

/** An endpoint's failure as Temporal sees it: retryable ones carry the wait that the endpoint asked for. */
export function modelFailure(error: ModelError): ApplicationFailure {
  return ApplicationFailure.create({
    type: `Model:${error.kind}`,
    message: error.message.slice(0, MESSAGE_CHARACTERS),
    nonRetryable: !error.retryable,
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
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
