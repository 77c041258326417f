import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@lezer/python';

/**
 * Longest source that is parsed, in characters. The parser takes up to 20 µs a token on hostile text, so this bounds one parse to
 * about a second; no program that a benchmark asks for comes near it.
 */
export const MAX_PARSED_CHARS = 60_000;

/** The parser does not know `1.` without a following digit; Python does. The stand-in has the same length, so offsets stay true. */
const BARE_FLOAT = /(?<![\w.])(\d{1,400})\.(?![\w.])/g;

/** Syntax tree of a source; never throws. Error nodes mark what is no Python. For text of bounded length, such as a dataset's. */
export function syntaxTree(source: string): Tree {
  return parser.parse(source.replace(BARE_FLOAT, '$10'));
}

/** The same for text of any length. @throws RangeError above `MAX_PARSED_CHARS` */
export function pythonTree(source: string): Tree {
  if (source.length > MAX_PARSED_CHARS)
    throw new RangeError(`source of ${source.length} characters is too long to parse`);
  return syntaxTree(source);
}

export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name !== 'Comment') children.push(child);
  }
  return children;
}

/** True for a string literal whose closing quote is missing; the parser lets a string end with its line. */
export function isUnterminated(literal: string): boolean {
  const [, quote] = /^[A-Za-z]{0,3}("""|'''|"|')/.exec(literal) ?? [];
  if (quote === undefined) return false;
  const start = literal.indexOf(quote);
  return literal.length < start + 2 * quote.length || !literal.endsWith(quote);
}
