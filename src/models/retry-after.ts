/** A longer hint is a provider's slip, or a day's quota: nobody waits longer than a day (`maxWait`, architecture §5). */
const LONGEST_MS = 24 * 3600 * 1000;

/**
 * The wait an endpoint asks for, in ms: `retry-after-ms`, else `retry-after` as seconds or as an HTTP date. Undefined when there is
 * none, or it cannot be read; a date in the past is 0. A date is one of the endpoint's clock, so it is counted from the response's own
 * `date`, and from `nowMs` only where there is none: our clock may be wrong, or have just been set.
 */
export function retryAfterMs(header: (name: string) => string | null | undefined, nowMs: number): number | undefined {
  const milliseconds = number(header('retry-after-ms'));
  if (milliseconds !== undefined) return clamp(milliseconds);
  const text = header('retry-after')?.trim();
  const seconds = number(text);
  if (seconds !== undefined) return clamp(seconds * 1000);
  const at = httpDate(text);
  return at === undefined ? undefined : clamp(at - (httpDate(header('date')?.trim()) ?? nowMs));
}

/** Date.parse takes nearly anything ("-5", "12abc"); an HTTP date begins with the day's name. */
function httpDate(text: string | undefined): number | undefined {
  if (text === undefined || !/^[A-Za-z]{3,9}, /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

function number(text: string | null | undefined): number | undefined {
  return text !== null && text !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function clamp(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_MS);
}
