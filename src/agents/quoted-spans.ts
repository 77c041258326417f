/** Whether the character at an offset belongs to a text that a program handles. */
export type IsQuoted = (at: number) => boolean;

const FENCE = /^[ \t>]*(?:`{3}|~{3})/;

/**
 * Where a reply quotes text in code: string literals that end (those in triple quotes inside fences only) and comments inside a fence that
 * is closed. What looks like a mark of the reply there (`s = "<think>"`, `# stop at <|end|>`) is the program's. An apostrophe (`don't`)
 * opens no string. Linear time; the work is done at the first question, so that a reply without marks costs nothing.
 */
export function quotedSpans(text: string): IsQuoted {
  let spans: [from: number, to: number][] | undefined;
  return (at) => {
    spans ??= findSpans(text);
    let low = 0;
    let high = spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((spans[middle]?.[1] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    const span = spans[low];
    return span !== undefined && span[0] <= at;
  };
}

function findSpans(text: string): [number, number][] {
  const spans: [number, number][] = [];
  let segment = 0;
  let fenced = false;
  for (let at = 0; at <= text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    const isFence = FENCE.test(text.slice(at, Math.min(end, at + 200)));
    if (isFence || end === text.length) {
      const closed =
        isFence && fenced && /^[ \t>]*(?:`{3,}|~{3,})[ \t]*$/.test(text.slice(at, Math.min(end, at + 200)));
      scan({ text, from: segment, to: isFence ? at : end, fenced, closed }, spans);
      segment = end + 1;
      if (isFence) fenced = !fenced;
    }
    at = end + 1;
  }
  return spans;
}

interface Segment {
  text: string;
  from: number;
  to: number;
  fenced: boolean;
  closed: boolean;
}

function scan({ text, from, to, fenced, closed }: Segment, spans: [number, number][]): void {
  const unclosed = new Set<string>();
  for (let at = from; at < to; ) {
    const char = text[at];
    if (char === '#' && fenced) {
      const end = lineEnd(text, at, to);
      if (closed) spans.push([at, end]);
      at = end;
    } else if ((char === '"' || char === "'") && opensString(text, at, from)) {
      const triple = char.repeat(3);
      let end: number | undefined;
      if (fenced && text.startsWith(triple, at) && !unclosed.has(triple)) {
        const close = text.indexOf(triple, at + 3);
        if (close !== -1 && close + 3 <= to) end = close + 3;
        else unclosed.add(triple);
      } else end = shortString(text, at, to);
      if (end !== undefined) spans.push([at, end]);
      at = end ?? at + 1;
    } else at += 1;
  }
}

function lineEnd(text: string, at: number, to: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 || newline > to ? to : newline;
}

/** A quote behind a word is an apostrophe, unless the word is a string's prefix. */
function opensString(text: string, at: number, from: number): boolean {
  const word = /[\p{L}\p{N}_]*$/u.exec(text.slice(Math.max(from, at - 4), at))?.[0] ?? '';
  return word === '' || /^[rbuf]{1,2}$/i.test(word);
}

/** End of a string that ends in its line. */
function shortString(text: string, from: number, to: number): number | undefined {
  const quote = text[from];
  for (let at = from + 1; at < to; at += 1) {
    const char = text[at];
    if (char === '\n') return undefined;
    if (char === '\\') at += 1;
    else if (char === quote) return at + 1;
  }
  return undefined;
}
