import { APIConnectionTimeoutError, APIError } from 'openai';
import { modelError } from './classify-error.ts';
import { classifyReply } from './classify-reply.ts';
import { actualCost, boundOf, mayHaveCost, type Prices } from './cost.ts';
import type { Endpoint } from './endpoints.ts';
import { openAiClient, readBody } from './http.ts';
import {
  type Account,
  type Cost,
  type Ledger,
  ModelError,
  type ModelReply,
  type ModelRequest,
  type ReplyStore,
} from './model.ts';
import { redact } from './redact.ts';
import { type BoundName, requestBody, requestKey } from './request-key.ts';
import { retryAfterMs } from './retry-after.ts';

export interface Asked {
  kind: 'reply';
  reply: ModelReply;
  /** Key of the reply in the store. */
  key: string;
  /** True when the store had it and nothing was sent. */
  reused: boolean;
}

/** Nothing was sent: requests under way hold the rest of the budget, and may leave some of it. */
export interface AwaitsBudget {
  kind: 'awaits_budget';
}

/** On whose account a request goes, and at which prices. */
export interface Billing {
  ledger: Ledger;
  account: Account;
  prices: Prices | undefined;
}

/** The sweep's budget has no room for the request, whatever becomes of those under way; nothing was sent. */
export class BudgetExhausted extends Error {
  readonly bound: Cost;

  constructor(sweep: string, bound: Cost) {
    super(`the budget of the sweep ${sweep} has no room for a request of up to ${bound.tokens} tokens`);
    this.name = 'BudgetExhausted';
    this.bound = bound;
  }
}

interface Question {
  request: ModelRequest;
  endpoint: Endpoint;
  replies: ReplyStore;
  signal: AbortSignal;
}

/** Endpoints and models seen to refuse `max_tokens`; forgetting them costs one refused request, which is free. */
const wantsCompletionTokens = new Set<string>();

/**
 * One reply to one request: from the store, else from the endpoint, and then stored before it is returned, whatever its kind.
 * Equal requests of one process share one completion. Throws `ModelError` when there is no reply; when `signal` is aborted, the signal's own reason
 * (the client's abort error would look like a failure worth a retry). The time limit, `settings.requestTimeoutMs`, is for the
 * whole reply and gives `unavailable`.
 *
 * With `billing`, the request's upper bound is reserved before it is sent; the reservation is settled in the transaction that stores the
 * reply, and otherwise released or marked possibly charged (`mayHaveCost`). A process killed in between leaves it open, for the next attempt to
 * mark. Throws `BudgetExhausted`. A reply that could not be stored (a full disk) is kept in memory, and the next call stores it instead of
 * asking again.
 */
export function askModel(question: Question): Promise<Asked>;
export function askModel(question: Question & { billing: Billing }): Promise<Asked | AwaitsBudget>;
export async function askModel(question: Question & { billing?: Billing }): Promise<Asked | AwaitsBudget> {
  const { request, endpoint, replies, signal } = question;
  const key = requestKey({ request, endpointIdentity: endpoint.identity });
  while (true) {
    signal.throwIfAborted();
    const stored = await replies.getReply(key);
    if (stored !== undefined) return { kind: 'reply', reply: stored, key, reused: true };
    const same = perStore(asking, replies).get(key);
    if (same === undefined) return lead({ ...question, key });
    // Its failure is ours too, but for what is its caller's own, a cancellation or an account: then somebody else has to ask.
    const outcome = await untilAborted(same, signal);
    if (outcome instanceof ModelError) throw outcome;
  }
}

/** What one process is asking at this moment: progressions with equal programs put equal questions at the same time. */
const asking: PerStore<Promise<unknown>> = new WeakMap();

/** Replies that were paid for and that the store would not take, with what they settle: at most one for each request under way. */
const unstored: PerStore<{ reply: ModelReply; settles: Settlement | undefined }> = new WeakMap();

/** By key, for each store of this process. */
type PerStore<T> = WeakMap<ReplyStore, Map<string, T>>;
type Settlement = { reservation: string; cost: Cost };

function perStore<T>(memory: PerStore<T>, replies: ReplyStore): Map<string, T> {
  const known = memory.get(replies) ?? new Map<string, T>();
  memory.set(replies, known);
  return known;
}

/** Asks for all in this process that want the same; they are told of a failure, and find a reply in the store. */
async function lead(input: Question & { key: string; billing?: Billing }): Promise<Asked | AwaitsBudget> {
  const { replies, key } = input;
  const flights = perStore(asking, replies);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  flights.set(key, promise);
  try {
    const asked = (await storeLate(input)) ?? (await sendBilled(input));
    resolve(undefined);
    return asked;
  } catch (error) {
    resolve(error);
    throw error;
  } finally {
    flights.delete(key);
  }
}

async function sendBilled(input: Question & { key: string; billing?: Billing }): Promise<Asked | AwaitsBudget> {
  const { request, replies, key, billing } = input;
  const wire = { sent: false };
  if (billing === undefined) return sendAndStore(input, wire, () => undefined);
  const { ledger, account, prices } = billing;
  const bound = boundOf(request, prices);
  const granted = await ledger.reserve({ account, requestKey: key, bound });
  if (granted.kind === 'wait') return { kind: 'awaits_budget' };
  if (granted.kind === 'exhausted') throw new BudgetExhausted(account.sweep, bound);
  const { reservation } = granted;
  try {
    // Another process may have stored it between the look into the store and the reservation, and marked what was open then.
    const stored = await replies.getReply(key);
    if (stored !== undefined) {
      await ledger.release(reservation);
      return { kind: 'reply', reply: stored, key, reused: true };
    }
    return await sendAndStore(input, wire, (reply) => ({ reservation, cost: actualCost(reply, bound, prices) }));
  } catch (error) {
    const closed = mayHaveCost(error, wire) ? ledger.markPossiblyCharged(reservation) : ledger.release(reservation);
    // The failure itself matters more than that of its book-keeping: what stays open is marked by the next attempt.
    await closed.catch(() => undefined);
    throw error;
  }
}

/** Sets `wire.sent` once the request may have arrived. */
async function sendAndStore(
  input: Question & { key: string },
  wire: { sent: boolean },
  settlementOf: (reply: ModelReply) => Settlement | undefined,
): Promise<Asked> {
  const { replies, key } = input;
  const reply = await send({ ...input, wire });
  perStore(unstored, replies).set(key, { reply, settles: settlementOf(reply) });
  return (await storeLate(input)) ?? { kind: 'reply', reply, key, reused: false };
}

/** Stores the reply that has come for this key and is not stored yet; undefined when there is none. */
async function storeLate({ request, replies, key }: Question & { key: string }): Promise<Asked | undefined> {
  const waiting = perStore(unstored, replies);
  const late = waiting.get(key);
  if (late === undefined) return undefined;
  const { reply, settles } = late;
  await replies.putReply(key, request, reply, settles);
  waiting.delete(key);
  // Another process may have been first: everybody goes on with the one that is kept.
  const kept = (await replies.getReply(key)) ?? reply;
  return { kind: 'reply', reply: kept, key, reused: false };
}

/** The promise's value; rejects with the signal's reason when that comes first, or has come already. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

async function send(input: Question & { wire: { sent: boolean } }): Promise<ModelReply> {
  const { settings } = input.request;
  const memory = `${input.endpoint.identity} ${settings.name}`;
  if (wantsCompletionTokens.has(memory)) return sendOnce({ ...input, boundName: 'max_completion_tokens' });
  try {
    return await sendOnce({ ...input, boundName: 'max_tokens' });
  } catch (error) {
    if (
      !(error instanceof ModelError) ||
      error.status !== 400 ||
      !/max_tokens.*max_completion_tokens/s.test(error.message)
    )
      throw error;
    wantsCompletionTokens.add(memory);
    // A refusal costs nothing.
    input.wire.sent = false;
    return sendOnce({ ...input, boundName: 'max_completion_tokens' });
  }
}

async function sendOnce({
  request,
  endpoint,
  signal,
  wire,
  boundName,
}: Question & { wire: { sent: boolean }; boundName: BoundName }): Promise<ModelReply> {
  const { api, requestTimeoutMs } = request.settings;
  const where = endpoint.identity;
  const secrets = [endpoint.apiKey];
  const client = openAiClient(endpoint, requestTimeoutMs, () => {
    wire.sent = true;
  });
  const limit = AbortSignal.timeout(requestTimeoutMs);
  const either = AbortSignal.any([signal, limit]);
  const startedMs = performance.now();
  let body: string;
  try {
    const response = await client
      .post(api === 'chat' ? '/chat/completions' : '/completions', {
        body: requestBody(request, boundName),
        signal: either,
      })
      .asResponse();
    body = await readBody(response, either);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted || error instanceof APIConnectionTimeoutError) {
      throw new ModelError('unavailable', `${where} gave no whole reply within ${requestTimeoutMs / 1000} s`);
    }
    throw transportError(error, { where, secrets });
  }
  const classified = classifyReply(body);
  if (classified.kind === 'problem') throw modelError(classified.problem, { where, secrets });
  if (classified.kind === 'malformed')
    throw new ModelError('malformed', `${where}: ${classified.detail}`, { status: 200 });
  return { ...classified.reply, latencyMs: Math.round(performance.now() - startedMs) };
}

/** A refused connection, a connection cut in mid-body, or an answer other than 2xx. The cause is left out: it could hold headers. */
function transportError(
  error: unknown,
  { where, secrets }: { where: string; secrets: (string | undefined)[] },
): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof APIError && error.status !== undefined) {
    const { status, code, type, headers } = error;
    const wait = retryAfterMs((name) => headers?.get(name), Date.now());
    const problem = {
      status,
      code: code ?? undefined,
      type,
      message: error.message.replace(/^\d{3} /, ''),
      retryAfterMs: wait,
    };
    return modelError(problem, { where, secrets });
  }
  return new ModelError('unavailable', `${where} cannot be reached: ${redact(reasonOf(error), secrets)}`);
}

/** The innermost reason: fetch wraps ECONNREFUSED and the like in two layers of "fetch failed". */
export function reasonOf(error: unknown): string {
  let reason = String(error);
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    reason = at.message || code || reason;
  }
  return reason;
}
