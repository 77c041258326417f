import type { SyntaxNode, SyntaxNodeRef } from '@lezer/common';
import { childrenOf, isUnterminated, MAX_PARSED_CHARS, pythonTree } from './tree.ts';

/** `stub`: a body that does nothing but hold the place (docstring, `...`, `pass`, `raise NotImplementedError`). */
export type Implementation = 'body' | 'stub';

export interface TopLevelStatement {
  /** Node type of the grammar, e.g. `FunctionDefinition`, `ImportStatement`, `AssertStatement`, `ExpressionStatement`. */
  type: string;
  from: number;
  to: number;
  /** Module-level names that it binds, branches and blocks included (`try: import q` binds `q`). */
  defines: string[];
  /**
   * Those of `defines` that get an implementation here: by `def`, `class`, a lambda, or a value that is no literal and is not made with
   * the name itself. An import, `add = add(1, 2)` or a test fixture binds a name and implements nothing.
   */
  implements: ReadonlyMap<string, Implementation>;
  hasErrors: boolean;
}

export interface PythonSource {
  /** False where the source is longer than `MAX_PARSED_CHARS`: then statements and names come from line starts alone. */
  parsed: boolean;
  /**
   * The grammar found no way to read some part. A strong hint and not a proof: the grammar is not CPython's (over 1,802 known
   * programs of the benchmarks it wrongly complained about one).
   */
  hasErrors: boolean;
  statements: TopLevelStatement[];
  /** Every module-level name; where a name is bound twice the last binding wins, as in Python. */
  defines: Set<string>;
  /** Every name that some statement implements; `body` where one of them has a body. */
  implements: ReadonlyMap<string, Implementation>;
}

/** What can be known of a Python module without running it. Never throws. */
export function parsePython(source: string): PythonSource {
  if (source.length > MAX_PARSED_CHARS) return skimPython(source);
  const tree = pythonTree(source);
  const statements: TopLevelStatement[] = [];
  let hasErrors = false;
  let broken = false;
  let depth = 0;
  tree.iterate({
    enter: (node) => {
      depth += 1;
      if (depth === 2) broken = false;
      if (isError(node, source, depth)) broken = hasErrors = true;
    },
    leave: (node) => {
      depth -= 1;
      if (depth !== 1 || node.name === 'Comment') return;
      const defines: string[] = [];
      const implemented = new Map<string, Implementation>();
      collectBindings(node.node, source, defines, implemented);
      statements.push({
        type: node.name,
        from: node.from,
        to: node.to,
        defines,
        implements: implemented,
        hasErrors: broken,
      });
    },
  });
  const all = new Map<string, Implementation>();
  for (const statement of statements) for (const [name, how] of statement.implements) note(all, name, how);
  return {
    parsed: true,
    hasErrors,
    statements,
    defines: new Set(statements.flatMap((statement) => statement.defines)),
    implements: all,
  };
}

function note(into: Map<string, Implementation>, name: string, how: Implementation): void {
  if (into.get(name) !== 'body') into.set(name, how);
}

/** Names that the source reads or binds anywhere; empty where it is too long to parse. */
export function namesIn(source: string): Set<string> {
  const names = new Set<string>();
  if (source.length > MAX_PARSED_CHARS) return names;
  const cursor = pythonTree(source).cursor();
  do if (cursor.name === 'VariableName') names.add(source.slice(cursor.from, cursor.to));
  while (cursor.next());
  return names;
}

/**
 * Names that the source reads and binds nowhere, neither at module level nor as parameter, loop variable or local of a function: a lower
 * bound of what it needs from elsewhere.
 */
export function freeNamesIn(source: string): Set<string> {
  const read = new Set<string>();
  if (source.length > MAX_PARSED_CHARS) return read;
  const bound = new Set<string>();
  pythonTree(source)
    .cursor()
    .iterate((node) => {
      if (node.name !== 'VariableName') return;
      const name = source.slice(node.from, node.to);
      if (isBinding(node.node)) bound.add(name);
      else if (!isKeyword(node.node)) read.add(name);
    });
  for (const name of bound) read.delete(name);
  return read;
}

/** The `key` of `sorted(names, key=len)`. */
function isKeyword(node: SyntaxNode): boolean {
  return node.parent?.name === 'ArgList' && node.nextSibling?.name === 'AssignOp';
}

function isBinding(node: SyntaxNode): boolean {
  const parent = node.parent;
  if (parent?.name === 'TupleExpression' || parent?.name === 'ArrayExpression') return isBinding(parent);
  const before = node.prevSibling?.name;
  const after = node.nextSibling?.name;
  switch (parent?.name) {
    case 'ParamList':
      return before !== 'AssignOp' && before !== 'TypeDef';
    case 'AssignStatement':
    case 'NamedExpression':
      return after === 'AssignOp' || after === 'TypeDef' || after === ',';
    case 'UpdateStatement':
      return after === 'UpdateOp';
    case 'FunctionDefinition':
    case 'ClassDefinition':
      return before === 'def' || before === 'class';
    case 'ForStatement':
      return before !== 'in';
    case 'ImportStatement':
      return true;
    default:
      return before === 'as' || isComprehensionTarget(node);
  }
}

/** Stands between the `for` and the `in` of a comprehension. */
function isComprehensionTarget(node: SyntaxNode): boolean {
  let before = node.prevSibling;
  while (before?.name === ',' || before?.name === 'VariableName' || before?.name === 'TupleExpression')
    before = before.prevSibling;
  return before?.name === 'for';
}

const LINE_DEFINITION = /^(?:async[ \t]+)?(?:def|class)[ \t]+(\w{1,200})/gm;

/** What line starts alone tell, in linear time for any length. */
export function skimPython(source: string): PythonSource {
  const defines = new Set<string>();
  for (const [, name] of source.matchAll(LINE_DEFINITION)) if (name !== undefined) defines.add(name);
  const implemented = new Map([...defines].map((name): [string, Implementation] => [name, 'body']));
  return { parsed: false, hasErrors: false, statements: [], defines, implements: implemented };
}

function isError(node: SyntaxNodeRef, source: string, depth: number): boolean {
  if (node.type.isError) return true;
  // Python 2's `print x`, and `return` outside a function: errors that only CPython's own compiler would report.
  if (node.name === 'PrintStatement' || (node.name === 'ReturnStatement' && depth === 2)) return true;
  return (node.name === 'String' || node.name === 'FormatString') && isUnterminated(source.slice(node.from, node.to));
}

/** Blocks that do not open a scope of their own. */
const TRANSPARENT = new Set([
  'IfStatement',
  'TryStatement',
  'WithStatement',
  'ForStatement',
  'WhileStatement',
  'Body',
  'StatementGroup',
  'MatchStatement',
  'MatchBody',
  'MatchClause',
]);

/** Decorators that make of a function something that tests use. */
const TEST_DECORATOR = /\b(?:fixture|patch)\b/;

function collectBindings(
  root: SyntaxNode,
  source: string,
  into: string[],
  implemented: Map<string, Implementation>,
): void {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const children = childrenOf(node);
    if (node.name === 'FunctionDefinition' || node.name === 'ClassDefinition' || node.name === 'TypeDefinition') {
      const found = children.find((child) => child.name === 'VariableName');
      if (found === undefined) continue;
      const name = source.slice(found.from, found.to);
      into.push(name);
      if (!isFixture(node, source)) note(implemented, name, isStub(node, source) ? 'stub' : 'body');
    } else if (node.name === 'DecoratedStatement') {
      pending.push(...children);
    } else if (node.name === 'AssignStatement') {
      const targets: string[] = [];
      collectTargets(children, source, targets);
      into.push(...targets);
      const value = assignedValue(children);
      if (value === undefined || LITERAL.test(value.name)) continue;
      const used = namesUnder(value, source);
      for (const name of targets) if (!used.has(name)) note(implemented, name, 'body');
    } else if (node.name === 'ImportStatement') {
      into.push(...importedNames(source.slice(node.from, node.to)));
    } else if (TRANSPARENT.has(node.name)) {
      pending.push(...children.toReversed());
    }
  }
}

function isFixture(definition: SyntaxNode, source: string): boolean {
  const decorated = definition.parent;
  return (
    decorated?.name === 'DecoratedStatement' &&
    decorated.getChildren('Decorator').some((node) => TEST_DECORATOR.test(source.slice(node.from, node.to)))
  );
}

/** Whether nothing in the body does anything. */
function isStub(definition: SyntaxNode, source: string): boolean {
  const body = definition.getChild('Body');
  return body === null || childrenOf(body).every((statement) => holdsThePlace(statement, source));
}

function holdsThePlace(statement: SyntaxNode, source: string): boolean {
  if (statement.name === 'StatementGroup')
    return childrenOf(statement).every((part) => part.name === ';' || holdsThePlace(part, source));
  if (statement.name === 'ExpressionStatement')
    return /^(?:String|ContinuedString|Ellipsis)$/.test(statement.firstChild?.name ?? '');
  if (statement.name === 'RaiseStatement')
    return /^raise\s+NotImplementedError\b/.test(source.slice(statement.from, statement.from + 100));
  return statement.name === 'PassStatement' || statement.name === ':' || statement.type.isError;
}

/** Values that are certainly nothing to call. */
const LITERAL =
  /^(?:Number|Boolean|None|Ellipsis|(?:String|ContinuedString|FormatString)|(?:Array|Dictionary|Set|Tuple)\w*Expression)$/;

function assignedValue(children: SyntaxNode[]): SyntaxNode | undefined {
  const lastOperator = children.findLastIndex((child) => child.name === 'AssignOp');
  let value = lastOperator === -1 ? undefined : children[lastOperator + 1];
  while (value?.name === 'ParenthesizedExpression') value = childrenOf(value)[1];
  return value;
}

/** Names that an expression reads when it is evaluated: a lambda's body is not. */
function namesUnder(expression: SyntaxNode, source: string): Set<string> {
  const names = new Set<string>();
  expression.cursor().iterate((node) => {
    if (node.name === 'LambdaExpression') return false;
    if (node.name === 'VariableName') names.add(source.slice(node.from, node.to));
    return undefined;
  });
  return names;
}

function collectTargets(children: SyntaxNode[], source: string, into: string[]): void {
  const lastOperator = children.findLastIndex((child) => child.name === 'AssignOp' || child.name === 'TypeDef');
  const pending = children.slice(0, Math.max(0, lastOperator)).toReversed();
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.name === 'VariableName') into.push(source.slice(node.from, node.to));
    if (node.name === 'TupleExpression' || node.name === 'ArrayExpression' || node.name === 'ParenthesizedExpression')
      pending.push(...childrenOf(node));
  }
}

function importedNames(statement: string): string[] {
  const list = /^(?:from\b[^\n]{0,400}?\bimport\b|import\b)([\s\S]*)$/.exec(statement)?.[1] ?? '';
  const names: string[] = [];
  for (const item of list
    .replace(/[()\\]/g, ' ')
    .replace(/#[^\n]*/g, ' ')
    .split(',')) {
    const words = item.trim().split(/\s+/);
    const name = words[1] === 'as' ? words[2] : words[0]?.split('.')[0];
    if (name !== undefined && /^[^\W\d]\w*$/u.test(name)) names.push(name);
  }
  return names;
}
