import type { SyntaxNode } from '@lezer/common';
import { normalForm } from './normal-form.ts';
import { childrenOf, MAX_PARSED_CHARS, pythonTree, syntaxTree } from './tree.ts';

export interface Parameter {
  name: string;
  /** Its default in normal form. */
  value: string | undefined;
}

/**
 * Parameters of a function as Python source declares them; undefined where it does not define the function, or where the function takes any
 * number of arguments. Two spellings of a call with keywords can only be compared with these.
 */
export function parametersOf({ source, name }: { source: string; name: string }): Parameter[] | undefined {
  if (name === '' || source.length > MAX_PARSED_CHARS) return undefined;
  let list: SyntaxNode | undefined;
  pythonTree(source)
    .cursor()
    .iterate((node) => {
      if (node.name !== 'FunctionDefinition') return;
      const found = node.node.getChild('VariableName');
      if (found !== null && source.slice(found.from, found.to) === name)
        list = node.node.getChild('ParamList') ?? undefined;
    });
  if (list === undefined) return undefined;
  const parameters: Parameter[] = [];
  for (const part of separated(list)) {
    const [first] = part;
    if (first === undefined) continue;
    const text = source.slice(first.from, first.to);
    if (text === '/' || (text === '*' && part.length === 1)) continue;
    if (first.name !== 'VariableName') return undefined;
    const given = part.findIndex((node) => node.name === 'AssignOp');
    const value = given === -1 ? undefined : part[given + 1];
    parameters.push({ name: text, value: value === undefined ? undefined : normalForm(value, source) });
  }
  return parameters;
}

/**
 * The calls of the entry point in an assert that hold no other such call, each in one normal form, in order: what running the assert asks of
 * the program whatever is wrapped around (`set(f(1))`, `f(f(1))`). Keywords are put in order, or at the place of their parameter
 * where `parameters` are known, and defaults that are written out are left out. Empty where nothing is called.
 */
export function callForms({
  assertSource,
  entryPoint,
  parameters,
}: {
  assertSource: string;
  entryPoint: string;
  parameters: Parameter[] | undefined;
}): string[] {
  if (entryPoint === '' || assertSource.length > MAX_PARSED_CHARS) return [];
  const calls: SyntaxNode[] = [];
  const innermost: boolean[] = [];
  const open: number[] = [];
  syntaxTree(assertSource)
    .cursor()
    .iterate(
      (node) => {
        if (!isCall(node.node, assertSource, entryPoint)) return;
        for (const index of open) innermost[index] = false;
        open.push(calls.push(node.node) - 1);
        innermost.push(true);
      },
      (node) => {
        const last = calls[open.at(-1) ?? -1];
        if (node.name === 'CallExpression' && last?.from === node.from && last.to === node.to) open.pop();
      },
    );
  return calls.filter((_, index) => innermost[index]).map((call) => formOf(call, assertSource, parameters));
}

function isCall(node: SyntaxNode, source: string, entryPoint: string): boolean {
  if (node.name !== 'CallExpression') return false;
  let callee = node.firstChild;
  while (callee?.name === 'ParenthesizedExpression') callee = childrenOf(callee)[1] ?? null;
  return callee !== null && source.slice(callee.from, callee.to) === entryPoint;
}

function formOf(call: SyntaxNode, source: string, parameters: Parameter[] | undefined): string {
  const list = call.getChild('ArgList');
  const positional: string[] = [];
  const keywords = new Map<string, string>();
  let unpacks = false;
  for (const part of list === null ? [] : separated(list)) {
    const [first, second, third] = part;
    if (first === undefined) continue;
    if (second?.name === 'AssignOp' && third !== undefined)
      keywords.set(source.slice(first.from, first.to), normalForm(third, source));
    else if (first.name === '*' && second !== undefined && /^(?:Array|Tuple)Expression$/.test(second.name))
      for (const item of separated(second)) positional.push(joined(item, source));
    else {
      unpacks ||= first.name === '*' || first.name === '**';
      positional.push(joined(part, source));
    }
  }
  const named = unpacks ? undefined : bound(positional, keywords, parameters);
  const given = named ?? keywords;
  const sorted = [...given].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`);
  return [...(named === undefined ? positional : []), ...sorted].join(', ');
}

/** Arguments by the name of their parameter, those at their default left out; undefined where they do not fit. */
function bound(
  positional: string[],
  keywords: Map<string, string>,
  parameters: Parameter[] | undefined,
): Map<string, string> | undefined {
  if (parameters === undefined || positional.length > parameters.length) return undefined;
  const named = new Map(keywords);
  for (const [index, value] of positional.entries()) named.set(parameters[index]?.name ?? '', value);
  for (const { name, value } of parameters) if (value !== undefined && named.get(name) === value) named.delete(name);
  return named;
}

function joined(nodes: SyntaxNode[], source: string): string {
  return nodes.map((node) => normalForm(node, source)).join(' ');
}

/** Children of a bracketed list between its commas; empty parts (a final comma) are left out. */
function separated(list: SyntaxNode): SyntaxNode[][] {
  const parts: SyntaxNode[][] = [[]];
  for (const child of childrenOf(list)) {
    if (child.name === ',') parts.push([]);
    else if (!/^[()[\]]$/.test(child.name)) parts.at(-1)?.push(child);
  }
  return parts.filter((part) => part.length > 0);
}
