/**
 * What a terminal or a reader's eye would obey or not show: C0 and C1 controls, DEL, bidirectional marks and overrides, zero-width
 * space and BOM, line and paragraph separators, invisible operators, interlinear anchors, tag characters, and lone surrogates. Joiners (U+200C, U+200D) stay: scripts and emoji need them.
 */
const UNSAFE =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Text of a model, a candidate or a dataset, made harmless for a terminal and still readable: unsafe characters become visible escapes. Newline and tab stay. */
export function terminalSafe(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

/** The same for one line of output: newline and tab are escaped too. */
export function terminalLine(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** JSON text without line breaks, made harmless too: the same value, for a parser. */
export function terminalJson(json: string): string {
  return json.replace(UNSAFE, (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
