import type { SyntaxNode } from '@lezer/common';
import { childrenOf, isUnterminated, MAX_PARSED_CHARS, pythonTree } from './tree.ts';

interface Edit {
  from: number;
  to: number;
  by: string;
}

/**
 * A program as a tracer may see it: without docstrings (nor other strings that stand as statements), comments, and, with an entry point,
 * without what only tries it out: asserts that call it outside of itself and an `if __name__ == "__main__":` that does. All of these may
 * state the result of a call and none takes part in computing it. A body that would be left empty gets `pass`; every other character stays.
 * A source too long to parse (`MAX_PARSED_CHARS`) stays as it is.
 */
export function bareCode({ source, entryPoint }: { source: string; entryPoint: string }): string {
  if (source.length > MAX_PARSED_CHARS) return source;
  const edits: Edit[] = [];
  const view = { source, entryPoint };
  let inEntryPoint = 0;
  pythonTree(source)
    .cursor()
    .iterate(
      (node) => {
        if (isEntryPoint(node.node, view)) inEntryPoint += 1;
        if (node.name === 'Comment') edits.push(comment(source, node.from, node.to));
        if (node.name === 'Script' || node.name === 'Body') cutStatements(node.node, view, inEntryPoint > 0, edits);
      },
      (node) => {
        if (isEntryPoint(node.node, view)) inEntryPoint -= 1;
      },
    );
  return applied(source, edits);
}

interface View {
  source: string;
  entryPoint: string;
}

function isEntryPoint(node: SyntaxNode, { source, entryPoint }: View): boolean {
  if (node.name !== 'FunctionDefinition') return false;
  const name = node.getChild('VariableName');
  return name !== null && source.slice(name.from, name.to) === entryPoint;
}

function cutStatements(block: SyntaxNode, view: View, inEntryPoint: boolean, edits: Edit[]): void {
  const statements = childrenOf(block).filter(({ name }) => name !== ':');
  const goes = (node: SyntaxNode): boolean =>
    node.name === 'StatementGroup'
      ? childrenOf(node).every((part) => part.name === ';' || goes(part))
      : isRemark(node, view.source) || (!inEntryPoint && isTrial(node, view));
  const gone = statements.filter(goes);
  const needsPass = block.name === 'Body' && gone.length === statements.length;
  for (const statement of gone) {
    const to = statement.from + view.source.slice(statement.from, statement.to).trimEnd().length;
    if (needsPass && statement === gone[0]) edits.push({ from: statement.from, to, by: 'pass' });
    else edits.push({ ...wholeLines(view.source, statement.from, to), by: '' });
  }
  for (const group of statements) {
    if (group.name !== 'StatementGroup' || gone.includes(group)) continue;
    const parts = childrenOf(group).filter(({ name }) => name !== ';');
    for (const [index, part] of parts.entries()) {
      if (!goes(part)) continue;
      const next = parts[index + 1];
      edits.push(
        next === undefined
          ? { from: parts.slice(0, index).findLast((one) => !goes(one))?.to ?? part.from, to: part.to, by: '' }
          : { from: part.from, to: next.from, by: '' },
      );
    }
  }
}

/** A string as a statement: evaluated, and nothing else. */
function isRemark(node: SyntaxNode, source: string): boolean {
  const value = node.name === 'ExpressionStatement' ? node.firstChild : null;
  if (value === null || (value.name !== 'String' && value.name !== 'ContinuedString')) return false;
  const literals = value.name === 'String' ? [value] : childrenOf(value);
  return literals.every(({ name, from, to }) => name === 'String' && !isUnterminated(source.slice(from, to)));
}

const MAIN_GUARD = /^if\s*\(?\s*(?:__name__\s*==\s*(["'])__main__\1|(["'])__main__\2\s*==\s*__name__)\s*\)?\s*:/;

function isTrial(node: SyntaxNode, { source, entryPoint }: View): boolean {
  if (entryPoint === '') return false;
  const guarded =
    node.name === 'IfStatement' && node.parent?.name === 'Script' && node.getChildren('Body').length === 1;
  if (node.name !== 'AssertStatement' && !(guarded && MAIN_GUARD.test(source.slice(node.from, node.to)))) return false;
  let calls = false;
  node.cursor().iterate((inner) => {
    if (inner.name === 'VariableName' && source.slice(inner.from, inner.to) === entryPoint) calls = true;
    return !calls;
  });
  return calls;
}

function comment(source: string, from: number, to: number): Edit {
  const lines = wholeLines(source, from, to);
  if (lines.from < from || lines.to > to) return { ...lines, by: '' };
  const before = /[ \t]*$/.exec(source.slice(Math.max(0, from - 200), from))?.[0].length ?? 0;
  return { from: from - before, to, by: '' };
}

/** The lines of a range that has them to itself, but for a comment at the end; else the range. */
function wholeLines(source: string, from: number, to: number): { from: number; to: number } {
  const lineStart = source.lastIndexOf('\n', from - 1) + 1;
  const newline = source.indexOf('\n', to);
  const lineEnd = newline === -1 ? source.length : newline;
  if (source.slice(lineStart, from).trim() !== '' || !/^[ \t\r;]*(?:#|$)/.test(source.slice(to, lineEnd)))
    return { from, to };
  return { from: lineStart, to: Math.min(source.length, lineEnd + 1) };
}

function applied(source: string, edits: Edit[]): string {
  let result = '';
  let at = 0;
  for (const edit of edits.sort((a, b) => a.from - b.from || b.to - a.to)) {
    if (edit.from < at) continue;
    result += source.slice(at, edit.from) + edit.by;
    at = edit.to;
  }
  return result + source.slice(at);
}
