/**
 * Cuts a JSON object or array into the raw texts of its members, without making a single JavaScript number: integers beyond 2^53,
 * `1.0`, `1e400` and Python's `NaN`, `Infinity` and `-Infinity` come out as they stand in the file. The text is checked to its
 * end against the JSON grammar plus those three words. Linear time, no recursion, so deep nesting is no hazard.
 */

/** Not JSON at `offset` (UTF-16 units from the start of the text). `atEnd`: the text stops in mid-value. */
export class JsonSplitError extends Error {
  readonly offset: number;
  readonly atEnd: boolean;

  constructor(message: string, offset: number, atEnd: boolean) {
    super(message);
    this.name = 'JsonSplitError';
    this.offset = offset;
    this.atEnd = atEnd;
  }
}

/** Top-level key → raw text of its value, in file order. A key that stands twice is refused. */
export function splitJsonObject(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, 0);
  if (text[at] !== '{') fail(text, at, 'a JSON object must start with {');
  at = skipSpace(text, at + 1);
  if (text[at] === '}') return atEndOfText(text, at + 1, members);
  for (;;) {
    const keyEnd = skipString(text, at);
    const key = decodeString(text, at, keyEnd);
    if (members.has(key)) fail(text, at, `the key ${JSON.stringify(key)} stands twice`);
    at = skipSpace(text, keyEnd);
    if (text[at] !== ':') fail(text, at, 'a colon must follow a key');
    const start = skipSpace(text, at + 1);
    const end = skipValue(text, start);
    members.set(key, text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === '}') return atEndOfText(text, at + 1, members);
    if (text[at] !== ',') fail(text, at, 'a comma or } must follow a value');
    at = skipSpace(text, at + 1);
  }
}

/** Raw texts of an array's elements with their offsets. */
export function splitJsonArray(text: string): { raw: string; offset: number }[] {
  const elements: { raw: string; offset: number }[] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== '[') fail(text, at, 'a JSON array must start with [');
  at = skipSpace(text, at + 1);
  if (text[at] === ']') return atEndOfText(text, at + 1, elements);
  for (;;) {
    const end = skipValue(text, at);
    elements.push({ raw: text.slice(at, end), offset: at });
    at = skipSpace(text, end);
    if (text[at] === ']') return atEndOfText(text, at + 1, elements);
    if (text[at] !== ',') fail(text, at, 'a comma or ] must follow an element');
    at = skipSpace(text, at + 1);
  }
}

/** Text of a raw JSON string (quotes included); undefined when the raw text is another kind of value. */
export function jsonString(raw: string): string | undefined {
  return raw.startsWith('"') ? decodeString(raw, 0, raw.length) : undefined;
}

function atEndOfText<T>(text: string, at: number, result: T): T {
  const rest = skipSpace(text, at);
  if (rest < text.length) fail(text, rest, 'there is more text after the end of the value');
  return result;
}

function fail(text: string, at: number, message: string): never {
  throw new JsonSplitError(message, at, at >= text.length);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit !== 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) break;
  }
  return at;
}

/** Index after the closing quote. Escapes are checked when the string is decoded, or here only for their length. */
function skipString(text: string, from: number): number {
  if (text[from] !== '"') fail(text, from, 'a string must start with "');
  for (let at = from + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return at + 1;
    if (unit === 0x5c) at++;
    else if (unit < 0x20) fail(text, at, 'a control character stands unescaped inside a string');
  }
  return fail(text, text.length, 'a string does not end');
}

function decodeString(text: string, from: number, end: number): string {
  try {
    const value: unknown = JSON.parse(text.slice(from, end));
    if (typeof value === 'string') return value;
  } catch {
    // falls through to the one message below
  }
  return fail(text, from, 'a string holds an escape that JSON does not know');
}

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|-?Infinity\b|NaN\b|true\b|false\b|null\b/y;

/** Index after the value that starts at `from`, containers and all. */
function skipValue(text: string, from: number): number {
  /** The closing brackets still owed, innermost last. */
  const open: string[] = [];
  let at = from;
  for (;;) {
    const first = text[at];
    if (first === '[' || first === '{') {
      const close = first === '[' ? ']' : '}';
      at = skipSpace(text, at + 1);
      if (text[at] === close) at++;
      else {
        open.push(close);
        if (close === '}') at = skipKey(text, at);
        continue;
      }
    } else if (first === '"') {
      at = skipString(text, at);
    } else {
      SCALAR.lastIndex = at;
      if (!SCALAR.test(text))
        fail(text, first === undefined ? text.length : at, 'a value is missing or is no JSON value');
      at = SCALAR.lastIndex;
    }
    // A value has ended: close what ends here, or go on to the next member.
    for (;;) {
      const close = open.at(-1);
      if (close === undefined) return at;
      at = skipSpace(text, at);
      if (text[at] === close) {
        open.pop();
        at++;
        continue;
      }
      if (text[at] !== ',') fail(text, at, `a comma or ${close} must follow a value`);
      at = skipSpace(text, at + 1);
      if (close === '}') at = skipKey(text, at);
      break;
    }
  }
}

function skipKey(text: string, from: number): number {
  const colon = skipSpace(text, skipString(text, from));
  if (text[colon] !== ':') fail(text, colon, 'a colon must follow a key');
  return skipSpace(text, colon + 1);
}
