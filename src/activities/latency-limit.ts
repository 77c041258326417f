/**
 * How many requests at once are worth sending, learnt from how long answers take: an endpoint that only queues what goes beyond its capacity answers
 * no more a second for it, but each later, until requests run into their time limit. Latency alone cannot tell that from a model that is slow
 * today or writes longer replies; so a rise only gives the occasion for a trial with fewer, and throughput decides. A plain value and one pure step.
 */
export interface LatencyLimit {
  /** Infinity: no reason for a limit below the configured one. */
  limit: number;
  changedAtMs: number;
  /** When the first request that began under this limit was answered: from there on answers come as fast as it lets them. */
  openedAtMs: number | undefined;
  /** Answers since then, of older requests too: they are part of the throughput. */
  window: { tookMs: number; work: number }[];
  /** Latency of a unit of work when the endpoint was at ease, in ms. */
  easyMs: number;
  /** What was before the present, lower limit, which is on trial. */
  trial: { limit: number; speed: number } | undefined;
}

export const AT_EASE: LatencyLimit = {
  limit: Number.POSITIVE_INFINITY,
  changedAtMs: Number.NEGATIVE_INFINITY,
  openedAtMs: undefined,
  window: [],
  easyMs: Number.POSITIVE_INFINITY,
  trial: undefined,
};

export interface Answer {
  startedAtMs: number;
  /** Undefined when the endpoint did not say. */
  completionTokens: number | undefined;
}

/** What reading the prompt costs, in tokens of reply: without it short replies would look slow. */
const PROMPT_WORK = 100;
/** Answers that are judged together: enough for a mean of replies of different lengths. */
const LEAST_WINDOW = 40;
/** Endpoints as fast as this keep nobody waiting, and what is measured is this machine. */
const FAST_MS = 500;
/** Latencies of a healthy endpoint differ by this much. */
const RISE = 2;
const TRIAL_SHARE = 0.75;
/** With a quarter fewer requests, a healthy endpoint is a quarter slower, a queueing one as fast. */
const KEPT_SPEED = 0.88;
/** Less than this share of the limit under way: it was not the limit that decided. */
const SATURATED = 0.8;
/** A trial that fails makes latencies count as usual by this much, not at once as what they are: chance may have spoiled it. */
const FORGIVEN = 1.5;

/** `effective` is the limit that was in force, whoever set it; `configured` the upper end. `reason` says why when `changed`, and is empty otherwise. */
export function adaptToLatency(
  before: LatencyLimit,
  input: Answer & { nowMs: number; effective: number; configured: number },
): LatencyLimit & { changed: boolean; reason: string } {
  const { startedAtMs, completionTokens, nowMs, effective, configured } = input;
  const same = { ...before, changed: false, reason: '' };
  const { openedAtMs } = before;
  if (openedAtMs === undefined) return startedAtMs < before.changedAtMs ? same : { ...same, openedAtMs: nowMs };
  const window = [...before.window, { tookMs: nowMs - startedAtMs, work: PROMPT_WORK + (completionTokens ?? 0) }];
  if (window.length < Math.max(LEAST_WINDOW, 3 * effective)) return { ...same, window };

  const spanMs = Math.max(1, nowMs - openedAtMs);
  const tookMs = sum(window.map((one) => one.tookMs));
  const work = sum(window.map((one) => one.work));
  const unitMs = tookMs / work;
  const speed = work / spanMs;
  const units = window.map((one) => one.tookMs / one.work).toSorted((a, b) => a - b);
  const easyMs = Math.min(before.easyMs, units[Math.floor(units.length / 50)] ?? unitMs);
  const next = { ...same, openedAtMs: nowMs, window: [], easyMs, trial: undefined };
  const changed = { ...next, changed: true, changedAtMs: nowMs, openedAtMs: undefined };

  if (before.trial !== undefined && speed < KEPT_SPEED * before.trial.speed) {
    const usual = Math.max(easyMs, Math.min(unitMs, FORGIVEN * easyMs));
    return { ...changed, limit: before.trial.limit, easyMs: usual, reason: 'fewer requests make it slower' };
  }
  const saturated = tookMs / spanMs >= SATURATED * effective;
  if (!saturated) return next;
  if (unitMs > RISE * easyMs && effective > 1 && tookMs / window.length > FAST_MS) {
    const limit = Math.max(1, Math.floor(TRIAL_SHARE * effective));
    return { ...changed, limit, trial: { limit: before.limit, speed }, reason: 'answers take long' };
  }
  if (before.limit >= configured) return next;
  const grown = before.limit + Math.ceil(configured / 20);
  const limit = grown >= configured ? Number.POSITIVE_INFINITY : grown;
  return { ...changed, limit, reason: 'answers come soon' };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
