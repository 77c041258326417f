import type { SyntaxNode } from '@lezer/common';
import { childrenOf, isUnterminated, MAX_PARSED_CHARS, pythonTree } from './tree.ts';

export interface MaskedAssert {
  /** `plain`: the call alone asks the question. `whole`: the assert has a form of its own and is shown with `?` in it. */
  shape: 'plain' | 'whole';
  /** What the program is asked to compute, e.g. `f(x)`. */
  call: string;
  /** One assert with `?` at the expected value's place; a message is left out, since messages name the value. */
  masked: string;
  /** Python expression over `__prediction__`, true where a value at the mask's place satisfies the original assertion. */
  comparison: string;
  /** The original text at the mask's place; undefined where the assertion states none (`assert not f(x)`). */
  expected: string | undefined;
}

/** Compare two values within a tolerance; either of the first two arguments may be the expected one. */
const TWO_VALUE_CHECKS = new Set([
  'isclose',
  'allclose',
  'array_equal',
  'approx_equal',
  'almost_equal',
  'is_close',
  'close',
]);

/**
 * Hides the value that an assertion expects (App. G; the comparison keeps the assertion's own operator, so that tolerance, `set(…)` and
 * dictionary order work). Where no single value is expected, the question is asked of the call and the whole assertion becomes the
 * comparison; where the call stands under a loop variable or occurs with several arguments, of the asserted expression itself.
 * Undefined: no single well-formed assert, or the entry point does not occur in it.
 */
export function maskExpected({
  assertSource,
  entryPoint,
}: {
  assertSource: string;
  entryPoint: string;
}): MaskedAssert | undefined {
  const source = assertSource.trim();
  if (entryPoint === '' || source.length > MAX_PARSED_CHARS) return undefined;
  const test = assertedExpression(source);
  if (test === undefined) return undefined;
  const view = new View(source, entryPoint, test);
  if (view.mentions.length === 0) return undefined;
  return maskComparison(view) ?? maskTwoValueCheck(view) ?? askCall(view) ?? askExpression(view);
}

/** The expression after `assert`, if the source is exactly one assert without errors. */
function assertedExpression(source: string): SyntaxNode | undefined {
  const tree = pythonTree(source);
  const cursor = tree.cursor();
  do {
    if (cursor.type.isError) return undefined;
    if (cursor.name === 'String' && isUnterminated(source.slice(cursor.from, cursor.to))) return undefined;
  } while (cursor.next());
  const statements = childrenOf(tree.topNode);
  const [statement] = statements;
  if (statement === undefined || statements.length !== 1 || statement.name !== 'AssertStatement') return undefined;
  const expression = childrenOf(statement)[1];
  return expression === undefined ? undefined : unwrap(expression);
}

/** Source, entry point and where its name occurs. */
class View {
  readonly source: string;
  readonly entryPoint: string;
  readonly test: SyntaxNode;
  /** Start offsets of the entry point's name, ascending. */
  readonly mentions: number[] = [];

  constructor(source: string, entryPoint: string, test: SyntaxNode) {
    this.source = source;
    this.entryPoint = entryPoint;
    this.test = test;
    const cursor = test.cursor();
    do {
      if (cursor.from >= test.to) break;
      if (
        cursor.name === 'VariableName' &&
        source.slice(cursor.from, cursor.to) === entryPoint &&
        !this.isKeyword(cursor.to)
      )
        this.mentions.push(cursor.from);
    } while (cursor.next());
  }

  text(node: { from: number; to: number }): string {
    return this.source.slice(node.from, node.to);
  }

  mentioned(node: SyntaxNode): boolean {
    return this.mentions.some((at) => at >= node.from && at < node.to);
  }

  isCall(node: SyntaxNode): boolean {
    return (
      node.name === 'CallExpression' &&
      node.firstChild !== null &&
      this.text(unwrap(node.firstChild)) === this.entryPoint
    );
  }

  /** The asserted expression with each of `nodes` replaced. */
  replaced(nodes: { from: number; to: number }[], by: string): string {
    let result = '';
    let at = this.test.from;
    for (const node of nodes) {
      result += this.source.slice(at, node.from) + by;
      at = node.to;
    }
    return grouped(result + this.source.slice(at, this.test.to));
  }

  private isKeyword(after: number): boolean {
    return /^[ \t]*=(?!=)/.test(this.source.slice(after, after + 40));
  }
}

/** Bounds the walks from each mention upwards. */
const MAX_MENTIONS = 100;

const PREDICTION = '__prediction__';

function unwrap(node: SyntaxNode): SyntaxNode {
  let current = node;
  while (current.name === 'ParenthesizedExpression') {
    const inner = childrenOf(current)[1];
    if (inner === undefined) break;
    current = inner;
  }
  return current;
}

/** An expression may have stood in brackets that allowed line breaks. */
function grouped(expression: string): string {
  return expression.includes('\n') ? `(${expression})` : expression;
}

function maskComparison(view: View): MaskedAssert | undefined {
  const parts = comparison(view.test);
  if (parts === undefined) return undefined;
  const { left, operator, right } = parts;
  if (view.mentioned(left) === view.mentioned(right)) return undefined;
  const onLeft = view.mentioned(left);
  const [ours, theirs] = onLeft ? [left, right] : [right, left];
  const symbol = operator.map((node) => view.text(node)).join(' ');
  const against = onLeft
    ? `${PREDICTION} ${symbol} ${grouped(view.text(theirs))}`
    : `${grouped(view.text(theirs))} ${symbol} ${PREDICTION}`;
  if (symbol === '==' || symbol === 'is') {
    const plain = symbol === '==' && onLeft && view.isCall(unwrap(ours));
    const call = view.text(plain ? unwrap(ours) : ours);
    const masked = onLeft ? `${grouped(call)} ${symbol} ?` : `? ${symbol} ${grouped(call)}`;
    return {
      shape: plain ? 'plain' : 'whole',
      call,
      masked: `assert ${masked}`,
      comparison: against,
      expected: view.text(theirs),
    };
  }
  return maskDistance(view, { ours, theirs, symbol, onLeft });
}

/** `abs(f(x) - 1) < 1e-6`: the expected value is the term next to the call. */
function maskDistance(
  view: View,
  parts: { ours: SyntaxNode; theirs: SyntaxNode; symbol: string; onLeft: boolean },
): MaskedAssert | undefined {
  const { ours, symbol, onLeft } = parts;
  if (!(onLeft ? ['<', '<='] : ['>', '>=']).includes(symbol) || ours.name !== 'CallExpression') return undefined;
  const [callee, list] = childrenOf(ours);
  if (callee === undefined || list === undefined || !/^(?:abs|math\.fabs)$/.test(view.text(callee))) return undefined;
  const [, difference, close] = childrenOf(list);
  if (difference === undefined || close?.name !== ')' || difference.name !== 'BinaryExpression') return undefined;
  const [a, minus, b] = childrenOf(difference);
  if (a === undefined || minus === undefined || b === undefined || view.text(minus) !== '-') return undefined;
  if (view.mentioned(a) === view.mentioned(b)) return undefined;
  const [value, expected] = view.mentioned(a) ? [a, b] : [b, a];
  return {
    shape: 'whole',
    call: view.text(value),
    masked: `assert ${view.replaced([expected], '?')}`,
    comparison: view.replaced([value], PREDICTION),
    expected: view.text(expected),
  };
}

function maskTwoValueCheck(view: View): MaskedAssert | undefined {
  if (view.test.name !== 'CallExpression') return undefined;
  const [callee, list] = childrenOf(view.test);
  if (callee === undefined || list === undefined || view.mentioned(callee)) return undefined;
  if (!TWO_VALUE_CHECKS.has(view.text(callee).split('.').at(-1) ?? '')) return undefined;
  const [open, a, comma, b] = childrenOf(list);
  if (open === undefined || a === undefined || comma?.name !== ',' || b === undefined) return undefined;
  if (
    view.mentioned(a) === view.mentioned(b) ||
    view.text(a).startsWith('*') ||
    childrenOf(list)[4]?.name === 'AssignOp'
  )
    return undefined;
  const [value, expected] = view.mentioned(a) ? [a, b] : [b, a];
  return {
    shape: 'whole',
    call: view.text(value),
    masked: `assert ${view.replaced([expected], '?')}`,
    comparison: view.replaced([value], PREDICTION),
    expected: view.text(expected),
  };
}

/** No value at one place: ask for the call's value and let the whole assertion judge it. */
function askCall(view: View): MaskedAssert | undefined {
  const calls = outermostCalls(view);
  const [first] = calls ?? [];
  if (calls === undefined || first === undefined) return undefined;
  const call = view.text(first);
  if (calls.some((node) => view.text(node) !== call)) return undefined;
  return {
    shape: 'plain',
    call,
    masked: `assert ${grouped(call)} == ?`,
    comparison: view.replaced(calls, PREDICTION),
    expected: undefined,
  };
}

function askExpression(view: View): MaskedAssert {
  const call = `(${view.text(view.test)})`;
  return { shape: 'plain', call, masked: `assert ${call} == ?`, comparison: PREDICTION, expected: undefined };
}

/** Calls of the entry point that lie in no other such call; undefined where its name also stands elsewhere, or under a loop variable. */
function outermostCalls(view: View): { from: number; to: number }[] | undefined {
  if (view.mentions.length > MAX_MENTIONS) return undefined;
  const calls: { from: number; to: number }[] = [];
  let coveredTo = -1;
  for (const at of view.mentions) {
    if (at < coveredTo) continue;
    let node: SyntaxNode | null = view.test.resolveInner(at, 1);
    while (node?.name === 'VariableName' || node?.name === 'ParenthesizedExpression') node = node.parent;
    if (node === null || !view.isCall(node) || bound(node, view.test)) return undefined;
    calls.push({ from: node.from, to: node.to });
    coveredTo = node.to;
  }
  return calls;
}

function bound(node: SyntaxNode, root: SyntaxNode): boolean {
  for (let at: SyntaxNode | null = node; at !== null && at.from >= root.from && at.to <= root.to; at = at.parent) {
    if (at.name === 'LambdaExpression' || at.name.endsWith('ComprehensionExpression') || at.name === 'FormatString')
      return true;
    if (at !== node && at.name === 'ArgList' && at.getChild('for') !== null) return true;
  }
  return false;
}

function comparison(node: SyntaxNode): { left: SyntaxNode; operator: SyntaxNode[]; right: SyntaxNode } | undefined {
  if (node.name !== 'BinaryExpression') return undefined;
  const children = childrenOf(node);
  const left = children[0];
  const right = children.at(-1);
  const operator = children.slice(1, -1);
  if (left === undefined || right === undefined || operator.length === 0) return undefined;
  if (
    !operator.every(
      (part) => part.name === 'CompareOp' || part.name === 'is' || part.name === 'not' || part.name === 'in',
    )
  )
    return undefined;
  // `1 < f(x) < 3` is read as nested comparisons, which it is not.
  if (comparison(left) !== undefined || comparison(right) !== undefined) return undefined;
  return { left, operator, right };
}
