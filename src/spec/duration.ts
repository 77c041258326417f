const UNITS_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time as a spec writes it: a number and one of ms, s, m, h, d. */
export const DURATION_PATTERN = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;

/** Milliseconds of `90s`, `1.5h` …; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  const [, amount, unit] = DURATION_PATTERN.exec(text) ?? [];
  const unitMs = unit === undefined ? undefined : UNITS_MS[unit];
  return unitMs === undefined ? undefined : Math.round(Number(amount) * unitMs);
}
