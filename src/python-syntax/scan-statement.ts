/**
 * Ends of logical lines without a parser: brackets, strings, comments and backslashes as Python's tokenizer sees them, one pass, any length.
 * `end` is where the statement's text ends (comment excluded), `next` where the following line (or, after `;`, statement) starts.
 */
export interface ScannedStatement {
  end: number;
  next: number;
  /** False where brackets or a triple-quoted string were still open when the scan had to stop. */
  complete: boolean;
}

/**
 * Scans from `from`. `stopsAt(lineStart)` says that the line starting there cannot continue an open bracket; so one statement that
 * never closes its bracket costs its own lines and not the rest of the text.
 */
export function scanStatement(text: string, from: number, stopsAt: (lineStart: number) => boolean): ScannedStatement {
  let depth = 0;
  let end = from;
  let at = from;
  while (at < text.length) {
    const char = text[at];
    if (char === '\n') {
      if (depth <= 0) return { end, next: at + 1, complete: true };
      if (stopsAt(at + 1)) return { end, next: at + 1, complete: false };
      at += 1;
    } else if (char === '#') {
      const newline = text.indexOf('\n', at);
      at = newline === -1 ? text.length : newline;
    } else if (char === ';' && depth <= 0) {
      return { end, next: at + 1, complete: true };
    } else if (char === '\\' && text[at + 1] === '\n') {
      at += 2;
    } else if (char === '"' || char === "'") {
      const string = scanString(text, at);
      if (!string.complete) return { end: string.end, next: lineAfter(text, at), complete: false };
      at = string.end;
      end = at;
    } else {
      if (char === '(' || char === '[' || char === '{') depth += 1;
      if (char === ')' || char === ']' || char === '}') depth -= 1;
      at += 1;
      if (char !== ' ' && char !== '\t' && char !== '\r' && char !== '\f') end = at;
    }
  }
  return { end, next: text.length, complete: depth <= 0 };
}

/** A string literal from its opening quote on; a plain one ends with its line at the latest. */
export function scanString(text: string, from: number): { end: number; complete: boolean } {
  const quote = text[from] ?? '"';
  const triple = text.startsWith(quote.repeat(3), from);
  let at = from + (triple ? 3 : 1);
  while (at < text.length) {
    const char = text[at];
    if (char === '\\') at += 2;
    else if (triple && char === quote && text.startsWith(quote.repeat(3), at)) return { end: at + 3, complete: true };
    else if (!triple && char === quote) return { end: at + 1, complete: true };
    else if (!triple && char === '\n') return { end: at, complete: false };
    else at += 1;
  }
  return { end: text.length, complete: false };
}

function lineAfter(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 ? text.length : newline + 1;
}

/** The triple quote that is open at the end of a line, given the one open at its start. Comments and short strings are passed over. */
export function tripleQuoteAfter(line: string, quote: string): string {
  let open = quote;
  let at = 0;
  while (at < line.length) {
    if (open !== '') {
      const end = line.indexOf(open, at);
      if (end === -1) return open;
      at = end + 3;
      open = '';
      continue;
    }
    const char = line[at];
    if (char === '#') return '';
    if (char !== '"' && char !== "'") {
      at += 1;
    } else if (line.startsWith(char.repeat(3), at)) {
      open = char.repeat(3);
      at += 3;
    } else {
      at += 1;
      while (at < line.length && line[at] !== char) at += line[at] === '\\' ? 2 : 1;
      at += 1;
    }
  }
  return open;
}
