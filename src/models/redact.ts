/** Longest error text that is kept; error pages of proxies run to many KB. */
const MAX_CHARACTERS = 500;

/**
 * Makes a text from outside fit for errors and logs: no key (ours by value and as URLs and JSON spell it, anything that looks like one
 * by shape), no control characters, one line, bounded.
 */
export function redact(text: string, secrets: readonly (string | undefined)[] = []): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret === undefined || secret.length < 4) continue;
    for (const spelling of spellings(secret)) clean = clean.replaceAll(spelling, '[key]');
  }
  clean = clean
    .slice(0, MAX_CHARACTERS * 8)
    // Providers quote a refused key half masked: "sk-ab****yz".
    .replace(/\b(?:sk|pk|gsk|hf|xai|key)[-_][\w*-]{4,}/gi, '[key]')
    .replace(/\bBearer\s+\S+/gi, 'Bearer [key]')
    .replace(/(https?:\/\/)[^\s/@]+@/gi, '$1')
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return clean.length <= MAX_CHARACTERS ? clean : `${clean.slice(0, MAX_CHARACTERS).toWellFormed()}…`;
}

/** The longest first, so that none is left half replaced by another. */
function spellings(secret: string): string[] {
  const inUrl = encodeURIComponent(secret.toWellFormed());
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  const lowerCase = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const all = [secret, inUrl, lowerCase(inUrl), inForm, lowerCase(inForm), JSON.stringify(secret).slice(1, -1)];
  return [...new Set(all)].toSorted((a, b) => b.length - a.length);
}
