/** The server takes 400 bytes of JSON for a summary, and refuses the whole command beyond. */
const LONGEST_BYTES = 390;

/** `text` as a summary for Temporal UI: one line, well-formed, cut to what the server takes. Importable from workflow code. */
export function summary(text: string): string {
  const line = text.toWellFormed().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  let bytes = 0;
  let kept = '';
  for (const char of line) {
    const unit = char.codePointAt(0) ?? 0;
    // A quote and a backslash are escaped in JSON.
    bytes += char === '"' || char === '\\' ? 2 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : unit < 0x10000 ? 3 : 4;
    if (bytes > LONGEST_BYTES) return kept;
    kept += char;
  }
  return kept;
}
