/** The vocabulary of one request to an OpenAI-compatible endpoint. */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** Which model to ask, and how; taken from the sweep spec, never holds a key. */
export interface ModelSettings {
  /** Alias of a configured endpoint (`default`, `scripted`, …) or a literal base URL, which never receives a configured key. */
  endpoint: string;
  name: string;
  /** `completions` sends `messages[0].content` as a plain prompt, for base models. */
  api: 'chat' | 'completions';
  /** Sent with every request; wins over the agents' own temperature and max_tokens. */
  parameters: Record<string, JsonValue>;
  /** Further body fields, passed through. */
  extraBody: Record<string, JsonValue>;
  /** `max_tokens` of single agents; wins over `parameters.max_tokens`. */
  maxTokens: Partial<Record<string, number>>;
  /** Declared context window in tokens (prompt and reply); a prompt that cannot fit is refused before it is sent. */
  contextTokens?: number | undefined;
  /** Longest wait for one whole reply, in ms. */
  requestTimeoutMs: number;
}

/** What an agent wants to say: the pure result of a prompt builder. */
export interface Prompt {
  /** Agent and version, e.g. `generator/2@1`; part of the reply's key, so a changed prompt is a new request. */
  version: string;
  /** Key into `ModelSettings.maxTokens`: the agent's name, e.g. `generator`. */
  agent: string;
  messages: ChatMessage[];
  temperature: number;
  /** Sent only where it is given. */
  topP?: number | undefined;
  /** Default bound of the reply in tokens. */
  maxTokens: number;
  /** Only used with `api: completions`; never sent in chat mode. */
  stop?: string[] | undefined;
}

export interface ModelRequest {
  settings: ModelSettings;
  prompt: Prompt;
  seed: number;
  /** Index of the independent sample of this task. */
  sample: number;
  /** 0, or the number of unusable replies to the same prompt before this one. */
  retry: number;
}

/**
 * `ok`: text to read. `truncated`: finish reason `length`. `refused`: content filter or a refusal field. `empty`: no text at all
 * (content null, whitespace, no choices, tool calls nobody asked for). `no_final_answer`: reasoning only, or an unclosed thinking block.
 */
export type ReplyKind = 'ok' | 'truncated' | 'refused' | 'empty' | 'no_final_answer';

/** A completion (HTTP 200), stored before it is used. */
export interface ModelReply {
  kind: ReplyKind;
  /** The reply's text as it came; may hold anything. */
  text: string;
  /** Text of a separate reasoning field, when the endpoint sends one. */
  reasoning: string;
  finishReason: string;
  /** Tokens as reported by the endpoint; null when it reported none. */
  usage: { prompt: number; completion: number } | null;
  /** The model's name as the endpoint reported it. */
  model: string;
  latencyMs: number;
}

/** Content-addressed memory of replies: `key` = sha256 over everything that determines the request. */
export interface ReplyStore {
  getReply(key: string): Promise<ModelReply | undefined>;
  /**
   * First writer wins; a second `put` of the same key changes nothing of the reply. `settles` closes that reservation with what the reply
   * really cost, in the same transaction.
   */
  putReply(
    key: string,
    request: ModelRequest,
    reply: ModelReply,
    settles?: { reservation: string; cost: Cost },
  ): Promise<void>;
}

/** Tokens and money; money in whole micro-dollars (1 US$ = 1,000,000), rounded up. */
export interface Cost {
  tokens: number;
  microUsd: number;
}

/** On whose account a request goes: a run-wide budget is the sweep's; `attempt` identifies one attempt of one activity. */
export interface Account {
  sweep: string;
  taskId: string;
  sample: number;
  step: string;
  attempt: string;
}

/**
 * The run-wide budget as a hard cap across workers (architecture §6). Every request reserves its upper bound before it is sent and is
 * settled after. used = settled + open + possibly charged; a reservation is granted only while used + bound ≤ cap, by one statement.
 */
export interface Ledger {
  /**
   * `exhausted`: settled + possibly charged alone leave no room for it. `wait`: open reservations of others do. Whatever is still open in this
   * sweep for the same request key was left by an attempt that died, and is marked possibly charged first: its request may have arrived. (Should it
   * live on in another process, it settles its own when its reply comes.)
   */
  reserve(input: {
    account: Account;
    requestKey: string;
    bound: Cost;
  }): Promise<{ kind: 'reserved'; reservation: string } | { kind: 'wait' } | { kind: 'exhausted' }>;
  /** The request certainly cost nothing (refused, never arrived). */
  release(reservation: string): Promise<void>;
  /** The request may have cost its bound (cut off, timed out): it keeps counting in full. */
  markPossiblyCharged(reservation: string): Promise<void>;
  /** Sums over a sweep; `cap` null where it has none. `possiblyCharged` counts reservations. */
  spent(sweep: string): Promise<{
    settled: Cost;
    open: Cost;
    possiblyCharged: Cost & { requests: number };
    cap: { tokens: number | null; microUsd: number | null };
  }>;
}

/**
 * Why a request gave no reply. Retryable: `rate_limited`, `unavailable` (5xx, 408, 409, 425, connection, timeout), `malformed`
 * (HTTP 200 that is no completion). Permanent for the whole sweep: `unauthorized`, `unknown_model`, `quota`.
 * Permanent for this request: `rejected` (other 4xx), `context_too_long`.
 */
export type ModelErrorKind =
  | 'rate_limited'
  | 'unavailable'
  | 'malformed'
  | 'unauthorized'
  | 'unknown_model'
  | 'quota'
  | 'rejected'
  | 'context_too_long';

export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  readonly status: number | undefined;
  /** Wait the endpoint asked for, in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { status?: number | undefined; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }

  get retryable(): boolean {
    return this.kind === 'rate_limited' || this.kind === 'unavailable' || this.kind === 'malformed';
  }
}
