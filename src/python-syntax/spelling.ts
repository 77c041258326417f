import { scanString } from './scan-statement.ts';

/**
 * One spelling for expressions that differ only in spaces between tokens, kind of quotes, a list's final comma or brackets around the whole.
 * For telling whether two tests ask the same; not Python any more.
 */
export function spelling(expression: string): string {
  let spelled = '';
  let at = 0;
  const text = withoutOuterBrackets(expression.trim());
  while (at < text.length) {
    const char = text[at] ?? '';
    if (char === '"' || char === "'") {
      const { end } = scanString(text, at);
      spelled += requoted(text.slice(at, end));
      at = end;
      continue;
    }
    if ((char === ']' || char === '}') && spelled.endsWith(',')) spelled = spelled.slice(0, -1);
    if (!/\s/.test(char)) spelled += char;
    at += 1;
  }
  return spelled;
}

function requoted(literal: string): string {
  const inside = literal.slice(1, -1);
  return /["'\\]/.test(inside) ? literal : `'${inside}'`;
}

function withoutOuterBrackets(expression: string): string {
  let from = 0;
  let to = expression.length;
  while (
    expression[from] === '(' &&
    expression[to - 1] === ')' &&
    to - from > 2 &&
    to - from < 10_000 &&
    wraps(expression, from, to)
  ) {
    from += 1;
    to -= 1;
  }
  return expression.slice(from, to).trim();
}

/** Whether the bracket at `from` closes only at the end. */
function wraps(text: string, from: number, to: number): boolean {
  let depth = 0;
  let at = from;
  while (at < to - 1) {
    const char = text[at];
    if (char === '"' || char === "'") {
      at = scanString(text, at).end;
      continue;
    }
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth === 0) return false;
    at += 1;
  }
  return true;
}
