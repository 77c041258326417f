import { scanStatement } from './scan-statement.ts';

const ASSERT = /^[ \t]*(?=assert(?![\w]))/;
/** An unclosed triple quote makes the scanner read to the end; after this many, triple quotes cannot be trusted and the rest is dropped. */
const MAX_OPEN_STRINGS = 3;

/**
 * The `assert` statements of a text, in order, each as written without indentation and trailing comment. Statements may span lines and hold
 * strings; lines that start no assert (prose, `def test():`) are passed over; a statement that does not end is dropped. Linear time.
 */
export function splitAsserts(text: string): string[] {
  const source = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  const statements: string[] = [];
  const startsAssert = (lineStart: number): number | undefined => {
    const indent = ASSERT.exec(source.slice(lineStart, lineStart + 200));
    return indent === null ? undefined : lineStart + indent[0].length;
  };
  let openStrings = 0;
  let at = 0;
  while (at < source.length) {
    const start = startsAssert(at);
    if (start === undefined) {
      const newline = source.indexOf('\n', at);
      at = newline === -1 ? source.length : newline + 1;
      continue;
    }
    const scanned = scanStatement(source, start, (lineStart) => startsAssert(lineStart) !== undefined);
    if (scanned.complete) statements.push(source.slice(start, scanned.end));
    else if (scanned.end === source.length && (openStrings += 1) > MAX_OPEN_STRINGS) break;
    at = scanned.next;
  }
  return statements;
}
