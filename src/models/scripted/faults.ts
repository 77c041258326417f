import { createHash } from 'node:crypto';
import { z } from 'zod';

/** HTTP 200 with a completion that is of little or no use: the product stores it, as it was paid for. */
const COMPLETIONS = [
  /** `choices: []`, `usage: null`. */
  'no-choices',
  /** The same with a provider's note that the prompt was filtered. */
  'no-choices-filtered',
  'content-null',
  'content-missing',
  /** A `refusal` field instead of content. */
  'refusal',
  /** Finish reason `content_filter`. */
  'content-filter',
  /** Half of the text, finish reason `length`. */
  'truncated',
  /** The whole text with the rule's `finishReason`. */
  'finish-reason',
  'reasoning-only',
  'unclosed-thinking',
  /** A call of a tool that nobody offered, without content. */
  'tool-calls',
  /** An empty list of tool calls, content null. */
  'no-tool-calls',
  /** The whole text, `usage: null`. */
  'no-usage',
] as const;

/** No completion comes. */
const FAILURES = [
  /** An answer with the rule's `status`, `code`, `message` and `retryAfter`. */
  'status',
  /** Neither headers nor body, until the client gives up. */
  'hang',
  /** Headers and the first bytes, then nothing. */
  'hang-body',
  /** Half of the body, then the connection ends. */
  'cut',
  /** The connection ends before any answer. */
  'reset',
  /** HTTP 200 with bytes that are no JSON. */
  'garbage',
  'html',
  'empty-body',
  /** HTTP 200 with `error` (the rule's `status`, `code`, `message`) beside no choices, and inside `choices[0]`. */
  'error-in-200',
  'error-in-choice',
  'choices-missing',
] as const;

const OTHERS = [
  /** The usual answer after `waitMs`. */
  'slow',
  /** HTTP 400 for a body that has this parameter; other bodies are served. */
  'refuses-max-tokens',
  'refuses-max-completion-tokens',
] as const;

const FaultSchema = z
  .strictObject({
    kind: z.enum([...COMPLETIONS, ...FAILURES, ...OTHERS]),
    /** Share of the request bodies that are victims. */
    share: z.number().min(0).max(1).default(1),
    /** Chooses the victims; rules of one kind and seed choose the same ones. */
    seed: z.int().default(0),
    /** Of each victim, how many arrivals fail before one is served; absent: all. */
    firstArrivals: z.int().min(1).optional(),
    /** Only bodies that contain this text. */
    matching: z.string().min(1).optional(),
    status: z.int().min(400).max(599).default(500),
    code: z.string().optional(),
    /** Absent: words that usually come with the status. */
    message: z.string().optional(),
    /** The wait a client is asked for, and in which header. */
    retryAfter: z.strictObject({ as: z.enum(['seconds', 'date', 'ms']), ms: z.int().min(0) }).optional(),
    finishReason: z.string().nullable().default('eos'),
    /** Of `slow`. */
    waitMs: z.int().min(0).max(3_600_000).default(1000),
  })
  .refine((fault) => fault.firstArrivals === undefined || !isCompletion(fault.kind), {
    error: 'a fault that is a completion must come at every arrival: else a repeated request would get another reply',
    path: ['firstArrivals'],
  });

export type Fault = z.infer<typeof FaultSchema>;
export type FaultKind = Fault['kind'];

/** Rules in order of precedence. */
export const FaultPlan = z.array(FaultSchema).max(100);
export type FaultPlan = z.infer<typeof FaultPlan>;
/** As a person or a test writes it, defaults left out. */
export type FaultPlanInput = z.input<typeof FaultPlan>;

export function isCompletion(kind: string): boolean {
  return COMPLETIONS.some((one) => one === kind);
}

/**
 * The first rule that applies to a request; undefined: the request is served. It depends on nothing but the body and how often that body has
 * arrived, and a completion never on the latter: so a run with faults, repeated and killed as it may be, ends as an undisturbed one.
 */
export function chooseFault(
  plan: FaultPlan,
  { body, arrival }: { body: string /** From 1. */; arrival: number },
): Fault | undefined {
  return plan.find(
    (fault) =>
      (fault.firstArrivals === undefined || arrival <= fault.firstArrivals) &&
      (fault.matching === undefined || body.includes(fault.matching)) &&
      concerns(fault.kind, body) &&
      lot(fault, body) < fault.share,
  );
}

function concerns(kind: FaultKind, body: string): boolean {
  if (kind === 'refuses-max-tokens') return body.includes('"max_tokens":');
  if (kind === 'refuses-max-completion-tokens') return body.includes('"max_completion_tokens":');
  return true;
}

/** In [0, 1), the same for the same rule and body. */
function lot({ kind, seed }: Fault, body: string): number {
  return createHash('sha256').update(`${kind} ${seed} `).update(body).digest().readUInt32BE(0) / 2 ** 32;
}
