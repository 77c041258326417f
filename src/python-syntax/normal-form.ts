import type { SyntaxNode } from '@lezer/common';
import { childrenOf } from './tree.ts';

/** Deeper expressions are compared as they are written, so that no nesting exhausts the stack. */
const MAX_DEPTH = 300;

/**
 * One spelling for expressions that differ only in spaces, comments, redundant brackets, final commas, the writing of string literals and of
 * numbers. For telling whether two expressions are the same; no Python any more. Equal values written by other means (`1` and `1.0`,
 * `{1, 2}` and `{2, 1}`) stay apart.
 */
export function normalForm(node: SyntaxNode, source: string, depth = 0): string {
  const text = source.slice(node.from, node.to);
  if (depth > MAX_DEPTH) return text;
  const children = childrenOf(node);
  switch (node.name) {
    case 'ParenthesizedExpression': {
      const inner = children[1];
      return inner === undefined || inner.type.isError ? text : normalForm(inner, source, depth + 1);
    }
    case 'String':
      return stringForm([text]);
    case 'ContinuedString':
      return children.every(({ name }) => name === 'String')
        ? stringForm(children.map(({ from, to }) => source.slice(from, to)))
        : text;
    case 'FormatString':
      return text;
    case 'Number':
      return numberForm(text);
  }
  if (children.length === 0) return text.trim();
  const close = children.at(-1);
  const isList = close !== undefined && /^[)\]}]$/.test(close.name) && children.at(-2)?.name === ',';
  const kept = isList ? children.filter((_, index) => index !== children.length - 2) : children;
  // The name keeps `(1,)` and a list of arguments apart from what they hold.
  return `${node.name}<${kept.map((child) => normalForm(child, source, depth + 1)).join(' ')}>`;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '0': '\0', '\\': '\\', "'": "'", '"': '"' };

/** The text of plain literals; literals with other prefixes or escapes as they are written. */
function stringForm(literals: string[]): string {
  let value = '';
  for (const literal of literals) {
    const [, prefix = '', quote = '', inside = ''] = /^([A-Za-z]{0,2})("""|'''|"|')([\s\S]*)\2$/.exec(literal) ?? [];
    const raw = /^r$/i.test(prefix);
    if (quote === '' || !(raw || /^u?$/i.test(prefix))) return literals.join(' ');
    if (!raw && /\\(?![ntr0\\'"](?![0-7]))|\\0\d/.test(inside.replaceAll('\\\\', ''))) return literals.join(' ');
    value += raw ? inside : inside.replace(/\\([ntr0\\'"])/g, (_, char: string) => ESCAPES[char] ?? char);
  }
  return JSON.stringify(value);
}

function numberForm(literal: string): string {
  const plain = literal.replaceAll('_', '').toLowerCase();
  if (/^0[xob][\da-f]+$/.test(plain)) {
    try {
      return BigInt(plain).toString();
    } catch {
      return plain;
    }
  }
  if (/^\d+$/.test(plain)) return plain.replace(/^0+(?=\d)/, '');
  const value = Number(plain);
  return Number.isFinite(value) ? `float ${value}` : plain;
}
