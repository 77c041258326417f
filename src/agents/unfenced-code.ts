import { parsePython } from '../python-syntax/parse-python.ts';
import { scanStatement, tripleQuoteAfter } from '../python-syntax/scan-statement.ts';

/** Lines at the left margin that begin a statement; prose that merely starts with `for` or `from` does not match. */
const CODE_LINE =
  /^(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*[([]|class[ \t]+\w+[ \t]*[:(]|@\w|import[ \t]+[\w.]+(?:[ \t]*,|[ \t]+as[ \t]|[ \t]*(?:#|;|$))|from[ \t]+[\w.]+[ \t]+import[ \t]|(?:if|elif|for|while|with|try|except|finally|else|match)\b[^\n]{0,400}:[ \t]*(?:#[^\n]*)?$|[A-Za-z_][\w.[\]'", \t]{0,200}[+\-*/%|&^]?=(?![=])|(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*\([^\n]*\)[ \t]*$|assert\b|#)/;

/** A line that cannot stand inside an open bracket. */
const NEW_STATEMENT = /^(?:(?:async )?def |class |@\w|import \w|from [\w.]+ import )/;

/** Statements that never end cost a scan to the end of the text each; after this many, lines stand for themselves. */
const MAX_OPEN_STATEMENTS = 5;

/** Characters of doubtful lines that are parsed; beyond, a line that looks like code is taken for code. */
const MAX_CHECKED_CHARS = 20_000;

/**
 * The code of a text without fences: statements that start at the left margin with the lines that belong to them; prose is left out, also
 * where it looks like code until it is parsed (`while this works:`). Linear time.
 */
export function unfencedCode(text: string): string {
  const kept: string[] = [];
  let at = 0;
  let inBlock = false;
  let quote = '';
  let openStatements = 0;
  let unchecked = MAX_CHECKED_CHARS;
  while (at < text.length) {
    const lineEnd = endOfLine(text, at);
    const head = text.slice(at, Math.min(lineEnd, at + 1000));
    if (quote !== '' || /^[ \t]|^$/.test(head)) {
      if (inBlock) {
        const line = text.slice(at, lineEnd);
        kept.push(line);
        quote = tripleQuoteAfter(line, quote);
      }
      at = lineEnd + 1;
      continue;
    }
    inBlock = CODE_LINE.test(head);
    let next = lineEnd + 1;
    if (inBlock) {
      if (openStatements < MAX_OPEN_STATEMENTS) {
        const scanned = scanStatement(text, at, (lineStart) =>
          NEW_STATEMENT.test(text.slice(lineStart, lineStart + 200)),
        );
        if (scanned.complete) next = endOfLine(text, Math.max(scanned.end, at)) + 1;
        else openStatements += 1;
      }
      const statement = text.slice(at, next - 1);
      if (!CERTAIN.test(head) && statement.length <= unchecked) {
        unchecked -= statement.length;
        inBlock = isStatement(statement, text.slice(next, next + 1000));
      }
      if (inBlock) kept.push(statement);
    }
    at = next;
  }
  return kept.join('\n').trimEnd();
}

function endOfLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 ? text.length : newline;
}

/** Lines that prose does not begin with. */
const CERTAIN = /^(?:(?:async[ \t]+)?def|class|@|#)/;

/** What must stand before a clause for the parser to know it. */
const CLAUSES: [RegExp, string][] = [
  [/^(?:elif|else)\b/, 'if x:\n    pass\n'],
  [/^(?:except|finally)\b/, 'try:\n    pass\n'],
];

function isStatement(statement: string, following: string): boolean {
  const opens =
    /:[ \t]*(?:#[^\n]*)?$/.test(statement) &&
    /^(?:if|elif|for|while|with|try|except|finally|else|match|async)\b/.test(statement);
  if (opens && !/^(?:[ \t]*(?:#[^\n]*)?\n){0,20}[ \t]+[^\s#]/.test(following)) return false;
  const before = CLAUSES.find(([clause]) => clause.test(statement))?.[1] ?? '';
  const handled = /^try\b/.test(statement) ? '\nfinally:\n    pass' : '';
  const body = /^match\b/.test(statement) ? '\n    case _:\n        pass' : '\n    pass';
  return !parsePython(`${before}${statement}${opens ? body : ''}${handled}\n`).hasErrors;
}
