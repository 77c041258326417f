/**
 * How many requests at once an endpoint takes at the moment, learnt from how requests end (AIMD, as TCP does it): halved when it
 * refuses or fails, grown again while it answers. A plain value and one pure step.
 */
export interface AdaptiveLimit {
  /** Infinity: the endpoint has given no reason for a limit below the configured one. */
  limit: number;
  /** Growth is by one an answer below it, and by a twentieth of the configured limit for each `limit` answers from it on. */
  threshold: number;
  /** Answers counted towards the next growth. */
  answers: number;
  /** When the limit was last halved. */
  cutAtMs: number;
  /** No answer has come since the first of a row of cuts: they are one and the same trouble. */
  inTrouble: boolean;
}

export interface RequestEnd {
  /** `answered`: with a completion. `rate_limited`: 429. `unavailable`: 5xx, time-out, no connection. */
  kind: 'answered' | 'rate_limited' | 'unavailable';
  startedAtMs: number;
  /** Of an answer, when the endpoint counts. */
  completionTokens?: number | undefined;
}

export const UNLIMITED: AdaptiveLimit = {
  limit: Number.POSITIVE_INFINITY,
  threshold: Number.POSITIVE_INFINITY,
  answers: 0,
  cutAtMs: Number.NEGATIVE_INFINITY,
  inTrouble: false,
};

/**
 * A cut needs this long to show. How a request ended that began before says nothing about the new limit, however long the wait is that
 * the endpoint asked for: a constant hint longer than the gap between requests must not freeze the limit (inspect_ai#5137).
 */
export const REACTION_MS = 1000;

/** `configured` is the upper end, at least 1. `reason` says why when `changed`, and is empty otherwise. */
export function adapt(
  before: AdaptiveLimit,
  {
    kind,
    startedAtMs,
    nowMs,
    configured,
  }: Omit<RequestEnd, 'completionTokens'> & { nowMs: number; configured: number },
): AdaptiveLimit & { changed: boolean; reason: string } {
  const same = { ...before, changed: false, reason: '' };
  const current = Math.min(before.limit, configured);
  if (kind === 'answered') {
    if (startedAtMs < before.cutAtMs || before.limit >= configured) return same;
    const steep = current < before.threshold;
    const answers = before.answers + 1;
    if (!steep && answers < current) return { ...same, answers, inTrouble: false };
    const grown = current + (steep ? 1 : Math.ceil(configured / 20));
    const limit = grown >= configured ? Number.POSITIVE_INFINITY : grown;
    return { ...before, limit, answers: 0, inTrouble: false, changed: true, reason: 'the endpoint answers' };
  }
  if (startedAtMs < before.cutAtMs + REACTION_MS) return { ...same, answers: 0 };
  const limit = Math.max(1, Math.floor(current / 2));
  // An endpoint that was away says nothing about how much it takes once it is back; one that counts requests does.
  const threshold = before.inTrouble ? before.threshold : kind === 'unavailable' ? current : limit;
  return {
    limit,
    threshold,
    answers: 0,
    cutAtMs: nowMs,
    inTrouble: true,
    changed: limit !== current,
    reason: limit === current ? '' : kind === 'rate_limited' ? 'too many requests (429)' : 'the endpoint fails',
  };
}
