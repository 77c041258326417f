import type { SyntaxNode, Tree } from '@lezer/common';
import { syntaxTree } from '../python-syntax/tree.ts';

/** What the readers of datasets need to know of Python source. Nothing here runs it. */

/** Line ends as Python wants them; MBPP's originals hold `\r\n`. */
export function pythonSource(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

export interface Parameters {
  /** In order, without `*args` and keyword-only ones. */
  positional: string[];
  /** How many of `positional` have no default. */
  required: number;
  keywordOnly: string[];
  /** `*args` takes any further positional argument, `**kwargs` any keyword. */
  variadic: { positional: boolean; keyword: boolean };
}

export interface FunctionSource {
  /** Offset of its `def` (or first decorator). */
  start: number;
  parameters: Parameters;
  /** The docstring's source between its quotes, escapes untouched; empty when there is none. */
  docstring: string;
}

/** The last top-level function of that name. */
export function findFunction(source: string, name: string): FunctionSource | undefined {
  let found: FunctionSource | undefined;
  for (let node = syntaxTree(source).topNode.firstChild; node !== null; node = node.nextSibling) {
    const definition = node.name === 'DecoratedStatement' ? node.getChild('FunctionDefinition') : node;
    if (definition?.name !== 'FunctionDefinition') continue;
    const names = definition.getChild('VariableName');
    if (names === null || source.slice(names.from, names.to) !== name) continue;
    found = {
      start: node.from,
      parameters: parametersOf(definition, source),
      docstring: docstringOf(definition, source),
    };
  }
  return found;
}

function parametersOf(definition: SyntaxNode, source: string): Parameters {
  const parameters: Parameters = {
    positional: [],
    required: 0,
    keywordOnly: [],
    variadic: { positional: false, keyword: false },
  };
  let prefix = '';
  let keywordOnly = false;
  for (let node = definition.getChild('ParamList')?.firstChild ?? null; node !== null; node = node.nextSibling) {
    const text = source.slice(node.from, node.to);
    if (node.name === '*' || node.name === '**') {
      prefix = text;
      keywordOnly ||= text === '*';
    } else if (node.name === ',') {
      prefix = '';
    } else if (node.name === 'VariableName' && node.prevSibling?.name !== 'AssignOp') {
      if (prefix === '*') parameters.variadic.positional = true;
      else if (prefix === '**') parameters.variadic.keyword = true;
      else if (keywordOnly) parameters.keywordOnly.push(text);
      else {
        parameters.positional.push(text);
        const next = node.nextSibling?.name === 'TypeDef' ? node.nextSibling.nextSibling : node.nextSibling;
        if (next?.name !== 'AssignOp') parameters.required++;
      }
    }
  }
  return parameters;
}

/** The first string statement of the body; HumanEval/115 has an import before it. */
function docstringOf(definition: SyntaxNode, source: string): string {
  for (const statement of definition.getChild('Body')?.getChildren('ExpressionStatement') ?? []) {
    const text = statement.getChild('String');
    if (text === null) continue;
    const quoted = /^[rRuUbB]*("""|'''|"|')([\s\S]*)\1$/.exec(source.slice(text.from, text.to));
    if (quoted !== null) return quoted[2] ?? '';
  }
  return '';
}

export interface Call {
  name: string;
  positional: number;
  keywords: string[];
  /** Holds `*x` or `**x`: its arguments cannot be counted. */
  unpacks: boolean;
  from: number;
  to: number;
}

/** Calls of plain names, outermost and leftmost first. */
export function callsIn(tree: Tree, source: string): Call[] {
  const calls: Call[] = [];
  tree.iterate({
    enter({ node }) {
      if (node.name !== 'CallExpression') return;
      const callee = node.firstChild;
      const list = node.getChild('ArgList');
      if (callee?.name !== 'VariableName' || list === null) return;
      const call: Call = {
        name: source.slice(callee.from, callee.to),
        positional: 0,
        keywords: [],
        unpacks: false,
        from: node.from,
        to: node.to,
      };
      let argument: SyntaxNode[] = [];
      for (let part = list.firstChild; part !== null; part = part.nextSibling) {
        if (part.name === '(' || part.name === 'Comment') continue;
        if (part.name !== ',' && part.name !== ')') {
          argument.push(part);
          continue;
        }
        const [first, second] = argument;
        if (first?.name === '*' || first?.name === '**') call.unpacks = true;
        else if (second?.name === 'AssignOp' && first !== undefined)
          call.keywords.push(source.slice(first.from, first.to));
        else if (first !== undefined) call.positional++;
        argument = [];
      }
      calls.push(call);
    },
  });
  return calls;
}

/** Whether Python would bind the call's arguments to the parameters. */
export function binds(call: Call, parameters: Parameters): boolean {
  if (call.unpacks) return true;
  if (call.positional > parameters.positional.length && !parameters.variadic.positional) return false;
  const known = new Set([...parameters.positional.slice(call.positional), ...parameters.keywordOnly]);
  if (call.keywords.some((keyword) => !known.has(keyword)) && !parameters.variadic.keyword) return false;
  const given = new Set(call.keywords);
  return parameters.positional.slice(call.positional, parameters.required).every((name) => given.has(name));
}

/** One assert statement and nothing else, as parsed; undefined when the text is not that. */
export function parseAssert(source: string): { tree: Tree; calls: Call[] } | undefined {
  const tree = syntaxTree(source);
  if (hasErrors(tree)) return undefined;
  const statements = [];
  for (let node = tree.topNode.firstChild; node !== null; node = node.nextSibling) {
    if (node.name !== 'Comment') statements.push(node.name);
  }
  return statements.length === 1 && statements[0] === 'AssertStatement'
    ? { tree, calls: callsIn(tree, source) }
    : undefined;
}

/** Whether `source` is one Python expression. */
export function isExpression(source: string): boolean {
  const tree = syntaxTree(`(${source}\n)`);
  const statement = tree.topNode.firstChild;
  return (
    !hasErrors(tree) &&
    statement?.name === 'ExpressionStatement' &&
    statement.nextSibling === null &&
    statement.firstChild?.to === statement.to
  );
}

export function hasErrors(tree: Tree): boolean {
  let broken = false;
  tree.iterate({
    enter(node) {
      broken ||= node.type.isError;
    },
  });
  return broken;
}

/** Names that the source defines with `def`, at any depth of indentation. */
export function definedFunctions(source: string): Set<string> {
  return new Set(
    [...source.matchAll(/^[ \t]*(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)/gm)].map((match) => match[1] ?? ''),
  );
}
