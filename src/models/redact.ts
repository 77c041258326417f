/** Longest error text that is kept; error pages of proxies run to many KB. */
const MAX_CHARACTERS = 500;

/**
 * Makes a text from outside fit for errors and logs: no key (ours by value, anything that looks like one by shape), no control
 * characters, one line, bounded.
 */
export function redact(text: string, secrets: readonly (string | undefined)[] = []): string {
  let clean = text.slice(0, MAX_CHARACTERS * 8);
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= 4) clean = clean.replaceAll(secret, '[key]');
  }
  clean = clean
    // Providers quote a refused key half masked: "sk-ab****yz".
    .replace(/\b(?:sk|pk|gsk|hf|xai|key)[-_][\w*-]{4,}/gi, '[key]')
    .replace(/\bBearer\s+\S+/gi, 'Bearer [key]')
    .replace(/(https?:\/\/)[^\s/@]+@/gi, '$1')
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return clean.length <= MAX_CHARACTERS ? clean : `${clean.slice(0, MAX_CHARACTERS).toWellFormed()}…`;
}
