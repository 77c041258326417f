import type { SyntaxNode, SyntaxNodeRef } from '@lezer/common';
import { childrenOf, isUnterminated, MAX_PARSED_CHARS, pythonTree } from './tree.ts';

export interface TopLevelStatement {
  /** Node type of the grammar, e.g. `FunctionDefinition`, `ImportStatement`, `AssertStatement`, `ExpressionStatement`. */
  type: string;
  from: number;
  to: number;
  /** Module-level names that it binds, branches and blocks included (`try: import q` binds `q`). */
  defines: string[];
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
      collectBindings(node.node, source, defines);
      statements.push({ type: node.name, from: node.from, to: node.to, defines, hasErrors: broken });
    },
  });
  return {
    parsed: true,
    hasErrors,
    statements,
    defines: new Set(statements.flatMap((statement) => statement.defines)),
  };
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

const LINE_DEFINITION = /^(?:async[ \t]+)?(?:def|class)[ \t]+(\w{1,200})/gm;

/** What line starts alone tell, in linear time for any length. */
export function skimPython(source: string): PythonSource {
  const defines = new Set<string>();
  for (const [, name] of source.matchAll(LINE_DEFINITION)) if (name !== undefined) defines.add(name);
  return { parsed: false, hasErrors: false, statements: [], defines };
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

function collectBindings(root: SyntaxNode, source: string, into: string[]): void {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const children = childrenOf(node);
    if (node.name === 'FunctionDefinition' || node.name === 'ClassDefinition' || node.name === 'TypeDefinition') {
      const name = children.find((child) => child.name === 'VariableName');
      if (name !== undefined) into.push(source.slice(name.from, name.to));
    } else if (node.name === 'DecoratedStatement') {
      pending.push(...children);
    } else if (node.name === 'AssignStatement') {
      collectTargets(children, source, into);
    } else if (node.name === 'ImportStatement') {
      into.push(...importedNames(source.slice(node.from, node.to)));
    } else if (TRANSPARENT.has(node.name)) {
      pending.push(...children.toReversed());
    }
  }
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
