import { syntaxTree } from '../python-syntax/tree.ts';
import { type Call, callsIn, hasErrors } from './python-source.ts';

/** Pieces of Python inside prose: where a call or a literal ends, and what it says. Offsets are into the text that is scanned. */

export interface Scanned {
  source: string;
  end: number;
}

/** The text from a name to the parenthesis that closes its call, on one logical line; undefined when it does not close. */
export function scanCall(text: string, from: number): Scanned | undefined {
  const opening = text.indexOf('(', from);
  const end = opening === -1 ? undefined : scanBrackets(text, opening);
  return end === undefined ? undefined : { source: joinLines(text.slice(from, end)), end };
}

/**
 * One literal: string, number, `True`, `False`, `None` (also `true` and `false`, as some prompts write them) or a bracketed
 * collection of literals. A full stop that ends the sentence is not part of a number. Undefined where something else stands, or
 * where the literal is glued to other text.
 */
export function scanLiteral(text: string, from: number): Scanned | undefined {
  const start = skipBlank(text, from);
  const sign = text[start] === '-' ? 1 : 0;
  const first = text[start + sign] ?? '';
  let end: number | undefined;
  if ('([{'.includes(first) && first !== '') end = scanBrackets(text, start + sign);
  else if (first === '"' || first === "'") end = scanString(text, start + sign);
  else {
    const match = /(?:\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?j?|\.\d+|True|False|None|true|false)/y;
    match.lastIndex = start + sign;
    end = match.test(text) ? match.lastIndex : undefined;
  }
  if (end === undefined || /[\w"'([]/.test(text[end] ?? '')) return undefined;
  const source = joinLines(text.slice(start, end)).replace(/^(true|false)$/, (word) =>
    word === 'true' ? 'True' : 'False',
  );
  return isLiteral(source) ? { source, end } : undefined;
}

/** Whether a Python expression consists of literals alone, arithmetic between them included. */
export function isLiteral(source: string): boolean {
  const tree = syntaxTree(`(${source}\n)`);
  if (hasErrors(tree) || tree.topNode.getChildren('ExpressionStatement').length !== 1) return false;
  let literal = true;
  tree.iterate({
    enter(node) {
      literal &&= LITERAL_NODES.has(node.name) || !/^[A-Z]/.test(node.name);
    },
  });
  return literal;
}

const LITERAL_NODES = new Set(
  (
    'Script ExpressionStatement ParenthesizedExpression TupleExpression ArrayExpression DictionaryExpression SetExpression ' +
    'Number String ContinuedString Escape Boolean None UnaryExpression BinaryExpression ArithOp Comment'
  ).split(' '),
);

/**
 * A call whose arguments are literals. An argument that is one bare word, and no parameter's name, is the string it spells:
 * HumanEval/80 writes `is_happy(aabb)`.
 */
export function literalCall(source: string, parameters: readonly string[]): { source: string; call: Call } | undefined {
  const tree = syntaxTree(source);
  const call = hasErrors(tree) ? undefined : callsIn(tree, source)[0];
  const list = tree.topNode.firstChild?.firstChild?.getChild('ArgList') ?? null;
  if (call === undefined || list === null || call.from !== 0 || call.to !== source.length) return undefined;
  let rewritten = source;
  for (const word of list.getChildren('VariableName').reverse()) {
    if (word.nextSibling?.name === 'AssignOp') continue;
    const text = source.slice(word.from, word.to);
    if (parameters.includes(text)) return undefined;
    rewritten = `${rewritten.slice(0, word.from)}'${text}'${rewritten.slice(word.to)}`;
  }
  const inner = rewritten.slice(call.name.length + 1, -1).replace(/(?<=^|,)(\s*)[A-Za-z_]\w*\s*=(?!=)/g, '$1');
  return isLiteral(`[${inner}]`) ? { source: rewritten, call } : undefined;
}

export function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? '')) at++;
  return at;
}

/** Longest bracketed text; a docstring of nothing but opening ones is scanned from each of them. */
const MAX_BRACKETS = 4_000;

/** Index after the bracket that closes the one at `from`; strings are passed over. */
function scanBrackets(text: string, from: number): number | undefined {
  const open: string[] = [];
  for (let at = from; at < text.length && at - from < MAX_BRACKETS; ) {
    const character = text[at] ?? '';
    if (character === '"' || character === "'") {
      const end = scanString(text, at);
      if (end === undefined) return undefined;
      at = end;
      continue;
    }
    if ('([{'.includes(character)) open.push(character === '(' ? ')' : character === '[' ? ']' : '}');
    else if (')]}'.includes(character) && open.pop() !== character) return undefined;
    at++;
    if (open.length === 0) return at;
  }
  return undefined;
}

/** Index after a string of one line. */
function scanString(text: string, from: number): number | undefined {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote) return at + 1;
    else if (text[at] === '\n') return undefined;
  }
  return undefined;
}

/** Strings cannot hold a line end here, so every one of them is layout. */
function joinLines(source: string): string {
  return source.replace(/\s*\n\s*/g, ' ');
}
