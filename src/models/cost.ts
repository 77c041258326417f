import type { Cost, JsonValue, ModelReply, ModelRequest } from './model.ts';
import { ModelError } from './model.ts';
import { requestBody } from './request-key.ts';

/** US$ per million tokens. */
export interface Prices {
  prompt: number;
  completion: number;
}

/** Prices are exact to a millionth of a US$ per million tokens. */
const PRICE_UNITS = 1_000_000;

/**
 * What tokens cost, in whole micro-dollars, rounded up; nothing without prices. A US$ per million tokens is a micro-dollar a token. Integer
 * arithmetic: in floating point 30 tokens at 0.1 are 3.0000000000000004, and would round up to 4.
 */
export function costOf(tokens: { prompt: number; completion: number }, prices: Prices | undefined): Cost {
  const total = tokens.prompt + tokens.completion;
  if (prices === undefined) return { tokens: total, microUsd: 0 };
  const units = BigInt(PRICE_UNITS);
  const exact =
    BigInt(tokens.prompt) * BigInt(Math.round(prices.prompt * PRICE_UNITS)) +
    BigInt(tokens.completion) * BigInt(Math.round(prices.completion * PRICE_UNITS));
  return { tokens: total, microUsd: Number((exact + units - 1n) / units) };
}

/**
 * Upper bound of a request. A token is at least a byte, so the prompt takes at most the bytes of the body it is sent in (whose braces and
 * field names stand for what a chat template adds), and the reply at most its `max_tokens`; without that, the declared context.
 * A request with no bound at all is a broken contract: the spec refuses a budget there.
 */
export function boundOf(request: ModelRequest, prices: Prices | undefined): Cost {
  const body = requestBody(request);
  const reply = replyLimit(body) ?? request.settings.contextTokens ?? request.prompt.maxTokens;
  // A server that draws several replies and keeps the best is paid for all of them.
  const draws = typeof body.best_of === 'number' ? Math.max(1, body.best_of) : 1;
  const prompt = Buffer.byteLength(JSON.stringify(body));
  return costOf({ prompt, completion: Math.ceil(Math.max(0, reply) * draws) }, prices);
}

/** The longest reply, in tokens, that a request's body allows; undefined when it names no limit. */
export function replyLimit(body: Record<string, JsonValue>): number | undefined {
  const limits = [body.max_tokens, body.max_completion_tokens].filter((limit) => typeof limit === 'number');
  return limits.length === 0 ? undefined : Math.max(...limits);
}

/** No reply costs more tokens or micro-dollars than this; a server that says so is wrong, and its sums would leave the exact numbers. */
const MOST = 1_000_000_000_000;

/** What a reply really cost; its bound when the endpoint reported no usage (the report calls it unmetered). */
export function actualCost(reply: ModelReply, bound: Cost, prices: Prices | undefined): Cost {
  if (reply.usage === null) return bound;
  const { tokens, microUsd } = costOf(reply.usage, prices);
  return { tokens: Math.min(tokens, MOST), microUsd: Math.min(microUsd, MOST) };
}

/**
 * Whether a request that gave no reply may nevertheless be on the bill. Certainly not: when no connection came about (refused, unknown
 * host, TLS); when it was turned away before any model ran (3xx; 4xx, 429 among them; 501, 505; 503 and 529, by which servers say that they
 * are overloaded or still starting). Perhaps: a connection cut, a time limit or a cancellation after it was sent; 408, 500, 502, 504 and every
 * other 5xx, by which a server or a gateway gives up on work that may have begun; HTTP 200 with garbage or with an error that names no status.
 */
export function mayHaveCost(error: unknown, { sent }: { sent: boolean }): boolean {
  if (!sent) return false;
  const status = error instanceof ModelError ? error.status : undefined;
  if (status === undefined || status < 300 || status === 408) return true;
  return status >= 500 && ![501, 503, 505, 529].includes(status);
}
