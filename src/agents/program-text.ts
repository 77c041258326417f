import type { Problem } from '../problems/problem.ts';
import {
  freeNamesIn,
  namesIn,
  type PythonSource,
  parsePython,
  type TopLevelStatement,
} from '../python-syntax/parse-python.ts';

type Inspect = (code: string) => PythonSource;

/**
 * The code with those statements of the preamble put before it that bind a name it does not bind itself (and those that bind none, unless
 * it repeats them). They come after `from __future__` imports and a module docstring, which Python wants first.
 */
export function withPreamble({
  code,
  preamble,
  inspect,
}: {
  code: string;
  preamble: string;
  inspect: Inspect;
}): string {
  if (preamble.trim() === '') return code;
  const own = inspect(code);
  const missing = parsePython(preamble)
    .statements.filter((statement) =>
      statement.defines.length === 0
        ? !code.includes(preamble.slice(statement.from, statement.to))
        : statement.defines.some((name) => !own.defines.has(name)),
    )
    .map((statement) => preamble.slice(statement.from, statement.to).trimEnd());
  return insert(code, missing, own);
}

/**
 * A program that came in a block of its own may rely on imports and helpers of other blocks: the module-level definitions that the code
 * uses and does not bind (nor `known`) are put before it, with what they use in turn. Earlier blocks count first, a fix being written on
 * top of them; of later ones (which are often examples of use) only imports, functions, classes and constants, and none that has to do with
 * the entry point.
 */
export function withOtherDefinitions({
  code,
  earlier,
  later,
  entryPoint,
  known,
  inspect,
}: {
  code: string;
  earlier: string[];
  later: string[];
  entryPoint: string;
  known: Set<string>;
  inspect: Inspect;
}): string {
  const own = inspect(code);
  if (!own.parsed || own.hasErrors || earlier.length + later.length === 0) return code;
  const before = definitionsOf(earlier, inspect, 0);
  const after = definitionsOf(later, inspect, code.length + earlier.reduce((sum, block) => sum + block.length, 0));
  const free = later.length === 0 ? new Set<string>() : freeNamesIn(code);
  const chosen = new Map<string, number>();
  const pending = [...namesIn(code)];
  const visited = new Set<string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (visited.has(name) || own.defines.has(name) || known.has(name)) continue;
    visited.add(name);
    const earlierOne = before.get(name);
    const laterOne = after.get(name);
    const found = earlierOne ?? (laterOne !== undefined && free.has(name) && supports(laterOne) ? laterOne : undefined);
    if (found === undefined) continue;
    chosen.set(found.text, found.order);
    const used = namesIn(found.text);
    for (const more of used) {
      pending.push(more);
      free.add(more);
    }
  }
  const texts = [...chosen].sort((a, b) => a[1] - b[1]).map(([text]) => text);
  return insert(code, texts, own);

  function supports({ text, type }: Definition): boolean {
    const names = namesIn(text);
    if (names.has(entryPoint)) return false;
    if (type === 'AssignStatement') return ![...names].some((name) => own.defines.has(name));
    return /^(?:Import|Try)Statement$|Definition$|^DecoratedStatement$/.test(type);
  }
}

interface Definition {
  text: string;
  type: TopLevelStatement['type'];
  order: number;
}

/** What the blocks bind at module level, by name; the last binding counts. */
function definitionsOf(blocks: string[], inspect: Inspect, firstOrder: number): Map<string, Definition> {
  const definitions = new Map<string, Definition>();
  let order = firstOrder;
  for (const block of blocks) {
    for (const statement of inspect(block).statements) {
      order += 1;
      const text = block.slice(statement.from, statement.to).trimEnd();
      for (const name of statement.defines) definitions.set(name, { text, type: statement.type, order });
    }
  }
  return definitions;
}

function insert(code: string, statements: string[], source: PythonSource): string {
  if (statements.length === 0) return code;
  let at = 0;
  for (const [index, statement] of source.statements.entries()) {
    const text = code.slice(statement.from, statement.to);
    const first = (index === 0 && /^[rRuU]?["']/.test(text)) || /^from[ \t]+__future__\b/.test(text);
    if (!first) break;
    at = statement.to;
  }
  if (at === 0) return `${statements.join('\n')}\n\n${code}`;
  return `${code.slice(0, at)}\n${statements.join('\n')}\n${code.slice(at)}`;
}

/**
 * Without what a model writes at module level to try its own program, often wrongly: asserts and prints that call the entry point, and,
 * once the entry point has a body, imports of it from a file that is not there, stubs of it and `f = f(1)`.
 */
export function withoutOwnTests({
  code,
  entryPoint,
  source,
}: {
  code: string;
  entryPoint: string;
  source: PythonSource;
}): string {
  let result = '';
  let keptTo = 0;
  let implemented = false;
  for (const statement of source.statements) {
    const text = code.slice(statement.from, statement.to);
    const replaces = implemented && statement.defines.includes(entryPoint) && undoes(statement, text, entryPoint);
    implemented ||= statement.implements.get(entryPoint) === 'body';
    if (!replaces && !isTrial(statement, text, entryPoint)) continue;
    result += code.slice(keptTo, statement.from);
    keptTo = statement.to;
  }
  return keptTo === 0 ? code : result + code.slice(keptTo);
}

function isTrial({ type, hasErrors }: TopLevelStatement, text: string, entryPoint: string): boolean {
  const tries = type === 'AssertStatement' || (type === 'ExpressionStatement' && /^print[ \t]*\(/.test(text));
  return tries && !hasErrors && namesIn(text).has(entryPoint);
}

/** A later binding that leaves the program without its entry point. `f = cache(f)` is none. */
function undoes({ type, implements: implemented, hasErrors }: TopLevelStatement, text: string, name: string): boolean {
  if (hasErrors) return false;
  if (type === 'ImportStatement' || implemented.get(name) === 'stub') return true;
  return (
    type === 'AssignStatement' &&
    !implemented.has(name) &&
    new RegExp(`=\\s*${name.replace(/\W/g, '')}\\s*\\(`).test(text)
  );
}

/**
 * A reply that is only the function's body, indented as a continuation of the statement; `undefined` when no indentation makes it one.
 * Tried in order: as written; only its first line unindented (models and endpoints trim the start of a reply); all of it unindented.
 */
export function asBody({
  text,
  problem,
  inspect,
}: {
  text: string;
  problem: Problem;
  inspect: Inspect;
}): string | undefined {
  const body = text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
  if (body === '' || body.length > 20_000) return undefined;
  const indent = bodyIndent(problem);
  const attempts = /^[ \t]/.test(body) ? [reindented(body, indent)] : [`${indent}${body}`, reindented(body, indent)];
  for (const attempt of attempts) {
    // A stub in place of the statement, whose docstring may hold anything, keeps this check about the body.
    const { hasErrors, statements } = inspect(`def stub():\n${attempt}\n`);
    if (hasErrors || statements.length !== 1 || !doesSomething(attempt)) continue;
    return `${problem.statement.endsWith('\n') ? '' : '\n'}${attempt}\n`;
  }
  return undefined;
}

/** How deep the statement indents the entry point's body. */
function bodyIndent({ statement, entryPoint }: Problem): string {
  const at = statement.lastIndexOf(`def ${entryPoint}`);
  return /\n([ \t]+)\S/.exec(statement.slice(Math.max(0, at)))?.[1] ?? '    ';
}

/** The body with its common indentation exchanged for `indent`. */
function reindented(body: string, indent: string): string {
  const lines = body.split('\n');
  const widths = lines.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  const common = widths.reduce((a, b) => Math.min(a, b), 1000);
  return lines.map((line) => (line.trim() === '' ? '' : indent + line.slice(common))).join('\n');
}

/** One word of prose is a valid expression; a body returns, raises, yields, assigns, calls or passes. */
function doesSomething(body: string): boolean {
  return /\b(?:return|raise|yield|pass|def|for|while|if|with|try)\b|=|\(|^[ \t]*\.\.\./m.test(body);
}
