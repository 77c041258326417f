import { ModelError, type ModelErrorKind } from './model.ts';
import { redact } from './redact.ts';

/** What an endpoint said instead of a completion: by status code, or inside the body of an HTTP 200. */
export interface EndpointProblem {
  /** Undefined when the body names none. */
  status: number | undefined;
  code?: string | undefined;
  type?: string | undefined;
  message: string;
  retryAfterMs?: number | undefined;
}

/** How servers word a prompt that does not fit: OpenAI and vLLM, llama.cpp, Ollama, TGI. */
const CONTEXT =
  /maximum context length|context[ _]length[ _]exceeded|exceeds? (?:the )?(?:available |model'?s? )?(?:maximum )?context|exceed_context_size|context window|prompt is too long|inputs? tokens? .{0,40}must have less than/i;
const QUOTA =
  /insufficient[_ ]quota|exceeded your current quota|billing[_ ](?:hard[_ ]limit|not[_ ]active)|insufficient[_ ](?:balance|credits?|funds)|credit balance/i;
const MODEL =
  /model[_ ]not[_ ]found|unknown model|model\b.{0,120}\b(?:not found|does not exist|is not available|not supported)|no such model|invalid model/i;
const POLICY = /content[_ ](?:policy|filter)|moderation|flagged|responsible ?ai/i;

/**
 * The failure class of a problem (`ModelErrorKind`). What the text says wins over the status where providers disagree about codes:
 * a used-up quota comes as 429, a prompt that is too long as 400, 413 or 500, an unknown model as 400 or 404.
 */
export function classifyError(problem: EndpointProblem): ModelErrorKind {
  const { status } = problem;
  const words = `${problem.code ?? ''} ${problem.type ?? ''} ${problem.message.slice(0, 2000)}`;
  if (status === undefined) return namedKind(words) ?? 'malformed';
  if (status === 429 || status === 402) return status === 402 || QUOTA.test(words) ? 'quota' : 'rate_limited';
  if (CONTEXT.test(words)) return 'context_too_long';
  if (status === 401) return 'unauthorized';
  // OpenRouter answers 403 for one flagged prompt: that must not stop a sweep.
  if (status === 403) return POLICY.test(words) ? 'rejected' : 'unauthorized';
  if (status === 404) return 'unknown_model';
  if (status === 400 || status === 422) return MODEL.test(words) && !POLICY.test(words) ? 'unknown_model' : 'rejected';
  // 498: Groq's "capacity exceeded". 409, 425: worth another try, as in OpenAI's own client. A redirect says nothing about the request.
  if ([408, 409, 425, 498].includes(status) || status >= 500 || status < 400) return 'unavailable';
  return 'rejected';
}

/** An error without a status: its own code words, as far as they are plain. */
function namedKind(words: string): ModelErrorKind | undefined {
  if (QUOTA.test(words)) return 'quota';
  if (/rate[_ ]limit|too many requests/i.test(words)) return 'rate_limited';
  if (CONTEXT.test(words)) return 'context_too_long';
  if (/invalid[_ ]api[_ ]key|authentication|unauthorized/i.test(words)) return 'unauthorized';
  if (MODEL.test(words)) return 'unknown_model';
  if (POLICY.test(words)) return 'rejected';
  if (/server[_ ]error|overloaded|unavailable|timed? ?out|capacity/i.test(words)) return 'unavailable';
  return undefined;
}

/** The typed error for a problem; `where` is the endpoint's identity, `secrets` never show. */
export function modelError(
  problem: EndpointProblem,
  { where, secrets, cause }: { where: string; secrets: readonly (string | undefined)[]; cause?: unknown },
): ModelError {
  const kind = classifyError(problem);
  const status = problem.status === undefined ? 'an error inside HTTP 200' : `HTTP ${problem.status}`;
  const said = redact(problem.message, secrets);
  const message = `${where} answered ${status}${said === '' ? '' : `: ${said}`}`;
  return new ModelError(kind, message, { status: problem.status, retryAfterMs: problem.retryAfterMs, cause });
}
