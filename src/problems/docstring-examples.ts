import { isLiteral, literalCall, type Scanned, scanCall, scanLiteral, skipBlank } from './docstring-scan.ts';
import { binds, type FunctionSource, findFunction, isExpression, parseAssert } from './python-source.ts';

/** Characters that are searched: each bracket may be followed to the end, so a docstring of megabytes would take hours. */
const MAX_DOCSTRING = 10_000;

/** Lines that one output may take; each further one is parsed again with all before it. */
const MAX_OUTPUT_LINES = 30;

/** One example as it was found. Without `value` it gives the call something that is no literal, and only counts as a contradiction. */
interface Example {
  /** Offset in the docstring; examples keep its order. */
  at: number;
  call: string;
  value: string | undefined;
}

interface Context {
  text: string;
  entryPoint: string;
  definition: FunctionSource;
  /** Names that the statement defines before the entry point; an example that calls one of them is not the entry point's. */
  statement: string;
}

/**
 * The examples of a function's docstring, each as `assert f(arguments) == value`, in the docstring's order (algorithms 1.6 L).
 *
 * Read are doctests; `f(x) == y` and its cousins (`=`, `=>`, `==>`, `->`, `➞`, `returns`, `should return`, `# =>`);
 * `For x = 1 the output should be 2`; `Input: … Output: …`; assignments followed by `return`. Every argument and value is a piece
 * of the docstring; nothing is inferred from prose such as "return None when empty". What does not parse, does not bind the
 * signature, or is not made of literals is dropped. Whether the reference solution agrees is nobody's business here.
 */
export function docstringExamples({ statement, entryPoint }: { statement: string; entryPoint: string }): string[] {
  const definition = findFunction(statement, entryPoint);
  if (definition === undefined) return [];
  const doctests = readDoctests({
    text: definition.docstring.slice(0, MAX_DOCSTRING),
    entryPoint,
    definition,
    statement,
  });
  const context = { text: doctests.rest, entryPoint, definition, statement };
  let examples = [
    ...doctests.examples,
    ...readCalls(context, entryPoint),
    ...readForSentences(context),
    ...readInputOutput(context),
    ...readAssignments(context),
  ];
  if (examples.length === 0) examples = readMisnamedCalls(context);
  const asserts = withoutContradictions(examples.sort((a, b) => a.at - b.at)).map(
    ({ call, value }) => `assert ${call} == ${value}`,
  );
  return [...new Set(asserts)].filter((source) => parseAssert(source) !== undefined);
}

/**
 * A docstring that gives one call two values uses the name for something else first (HumanEval/130 states a recurrence before its
 * own examples): everything up to the earlier of the two goes.
 */
function withoutContradictions(examples: Example[]): Example[] {
  let keepFrom = 0;
  examples.forEach((example, index) => {
    const other = examples.findLastIndex((later) => later.call === example.call && later.value !== example.value);
    if (other > index && examples[other]?.value !== undefined) keepFrom = index + 1;
  });
  return examples.slice(keepFrom).filter((example) => example.value !== undefined);
}

/** `>>> f(x)` with its output on the next lines, or with `== y` or the value itself on the same line. `rest` is the docstring with doctests blanked out. */
function readDoctests(context: Context): { examples: Example[]; rest: string } {
  const lines = context.text.split('\n');
  const examples: Example[] = [];
  let at = 0;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const start = at;
    at += line.length + 1;
    const prompt = /^\s*>>>\s*/.exec(line);
    if (prompt === null) continue;
    const source = line.slice(prompt[0].length);
    const outputs = outputLines(lines, index + 1);
    const example = readDoctest({ ...context, text: source }, outputs);
    if (example !== undefined) examples.push({ ...example, at: start });
    for (let used = index; used <= index + outputs.length; used++) lines[used] = ' '.repeat(lines[used]?.length ?? 0);
    for (const output of outputs) at += output.length + 1;
    index += outputs.length;
  }
  return { examples, rest: lines.join('\n') };
}

/** Lines up to the next prompt or blank line. */
function outputLines(lines: string[], from: number): string[] {
  let to = from;
  while (to < lines.length && lines[to]?.trim() !== '' && !/^\s*>>>/.test(lines[to] ?? '')) to++;
  return lines.slice(from, to);
}

function readDoctest(context: Context, outputs: string[]): Omit<Example, 'at'> | undefined {
  const { text, entryPoint, definition } = context;
  const call = text.startsWith(`${entryPoint}(`) ? scanCall(text, 0) : undefined;
  const rest = call === undefined ? '' : text.slice(call.end);
  const sameLine = call === undefined ? undefined : (valueAfter(text, call.end) ?? scanLiteral(text, call.end));
  if (call !== undefined && sameLine !== undefined) {
    if (outputs.length > 0 && outputs[0]?.trim() !== 'True') return undefined;
    return checked(context, { call: call.source, value: sameLine.source });
  }
  const value =
    outputValue(outputs) ?? (outputs.length === 0 && context.statement.includes('None') ? 'None' : undefined);
  if (value === undefined) return undefined;
  if (call !== undefined && /^\s*(#.*)?$/.test(rest)) return checked(context, { call: call.source, value });
  // The call stands inside another, as in `round(f(x), 2)`.
  const expression = text.replace(/\s#.*$/, '').trim();
  const parsed = isExpression(expression) ? parseAssert(`assert ${expression} == ${value}`) : undefined;
  const own = parsed?.calls.find((candidate) => candidate.name === entryPoint);
  if (own === undefined || !binds(own, definition.parameters)) return undefined;
  const inside = literalCall(`assert ${expression}`.slice(own.from, own.to), definition.parameters.positional);
  return inside === undefined ? undefined : { call: expression, value };
}

/** The shortest run of output lines that is a whole literal. */
function outputValue(outputs: string[]): string | undefined {
  for (let count = 1; count <= Math.min(outputs.length, MAX_OUTPUT_LINES); count++) {
    const source = outputs
      .slice(0, count)
      .join('\n')
      .trim()
      .replace(/\s*\n\s*/g, ' ');
    if (isLiteral(source)) return source;
  }
  return undefined;
}

const SEPARATOR =
  /[ \t]*(?:#[ \t]*)?(?:={1,2}>|(={1,2}|->|➞|→)|⇒|(?:(?:should|must|will|would)\s+)?returns?(?=\s)|(?:should|must)\s+(?:be|equal)(?=\s)|equals?(?=\s)|gives(?=\s))\s*/y;

/** `f(x) == y` anywhere in the text. */
function readCalls(context: Context, name: string): Example[] {
  const { text } = context;
  const examples: Example[] = [];
  for (const match of text.matchAll(new RegExp(`(?<![\\w.])${name}\\(`, 'g'))) {
    const call = scanCall(text, match.index);
    if (call === undefined) continue;
    SEPARATOR.lastIndex = call.end;
    const separator = SEPARATOR.exec(text);
    if (separator === null) continue;
    const value = valueAfter(text, call.end);
    const example = checked(context, { call: call.source.replace(name, context.entryPoint), value: value?.source });
    // Only an equation contradicts; "f(5) returns the sum" is a description.
    if (example !== undefined && (value !== undefined || separator[1] !== undefined))
      examples.push({ ...example, at: match.index });
  }
  return examples;
}

/** A literal behind a separator; of a chain such as `19 - 5 - 6 = 8` the last one. */
function valueAfter(text: string, from: number): Scanned | undefined {
  SEPARATOR.lastIndex = from;
  if (!SEPARATOR.test(text)) return undefined;
  const value = scanLiteral(text, SEPARATOR.lastIndex);
  if (value === undefined) return undefined;
  const lineEnd = text.indexOf('\n', value.end);
  const rest = text.slice(value.end, lineEnd === -1 ? undefined : lineEnd).trim();
  if (
    !/^([+*/%=<>-]|and\b|or\b|if\b|in\b|is\b)/.test(rest) ||
    /returns?\s*$/.test(text.slice(from, SEPARATOR.lastIndex))
  )
    return value;
  const last = rest.lastIndexOf('=');
  const result = last === -1 ? undefined : scanLiteral(rest, last + 1);
  return result !== undefined &&
    rest.slice(result.end).trim() === '' &&
    isLiteral(`${value.source} ${rest.slice(0, last).trim()}`)
    ? result
    : undefined;
}

/** HumanEval/81 and 149 call the function by another name in their examples; only read when there are no others. */
function readMisnamedCalls(context: Context): Example[] {
  const names = [...context.text.matchAll(/^\s*(?:[*-]\s+)?(?:assert\s+)?([A-Za-z_]\w*)\(/gm)].map(
    (match) => match[1] ?? '',
  );
  const foreign = names.find((name) => !BUILTINS.has(name) && findFunction(context.statement, name) === undefined);
  return foreign === undefined ? [] : readCalls(context, foreign);
}

const BUILTINS = new Set(
  'abs all any bool chr dict divmod float int isinstance len list map max min ord pow print range repr reversed round set sorted str sum tuple type zip'.split(
    ' ',
  ),
);

/** `For s = "abcde", c = "ae", the result should be ('bcd',False)`. */
function readForSentences(context: Context): Example[] {
  const { text } = context;
  const examples: Example[] = [];
  for (const match of text.matchAll(/\bFor\s+(?=\w+\s*=)/g)) {
    const given = scanArguments(text, match.index + match[0].length);
    const result = /^[^\n]*?\b(?:output|result|answer)\s+(?:should|must|will)\s+be\s+/.exec(text.slice(given.end));
    if (result === null) continue;
    const value = scanLiteral(text, given.end + result[0].length);
    const example =
      value === undefined ? undefined : checked(context, { call: callOf(context, given.values), value: value.source });
    if (example !== undefined) examples.push({ ...example, at: match.index });
  }
  return examples;
}

/** `Input: arr = [4, -4, 4], k = 2` and `Output: [4, 4]`, on one line or several. */
function readInputOutput(context: Context): Example[] {
  const { text } = context;
  const examples: Example[] = [];
  for (const match of text.matchAll(/\bInput\s*:/g)) {
    const given = scanArguments(text, match.index + match[0].length);
    const output = /^\s*Output\s*:/.exec(text.slice(given.end));
    if (output === null) continue;
    const value = scanLiteral(text, given.end + output[0].length);
    const example =
      value === undefined ? undefined : checked(context, { call: callOf(context, given.values), value: value.source });
    if (example !== undefined) examples.push({ ...example, at: match.index });
  }
  return examples;
}

/** Lines that assign each argument, then one with the result: `arr = [2, 1]` … `return ["Two", "One"]` (HumanEval/105, 160). */
function readAssignments(context: Context): Example[] {
  const examples: Example[] = [];
  let values: Argument[] = [];
  let at = 0;
  for (const line of context.text.split('\n')) {
    const result = /^\s*(?:={1,2}>|->|➞)?\s*(?:returns?|result|output)\b\s*[=:]?\s*/.exec(line);
    const assignment = /^\s*([A-Za-z_]\w*)\s*(?:=(?!=)|(?=\[))\s*/.exec(line);
    const value = wholeLiteral(line, (result ?? assignment)?.[0].length);
    if (result !== null && value !== undefined) {
      const known = values.some(({ name }) => context.definition.parameters.positional.includes(name));
      const example = known ? checked(context, { call: callOf(context, values), value }) : undefined;
      if (example !== undefined) examples.push({ ...example, at });
      values = [];
    } else if (result === null && assignment !== null && value !== undefined) {
      values.push({ name: assignment[1] ?? '', value });
    }
    at += line.length + 1;
  }
  return examples;
}

function wholeLiteral(line: string, from: number | undefined): string | undefined {
  const value = from === undefined ? undefined : scanLiteral(line, from);
  return value !== undefined && line.slice(value.end).trim() === '' ? value.source : undefined;
}

interface Argument {
  /** Empty when the example does not name it. */
  name: string;
  value: string;
}

/** `[name = | name :] literal`, separated by commas or line ends, as far as they go. */
function scanArguments(text: string, from: number): { values: Argument[]; end: number } {
  const values: Argument[] = [];
  let end = from;
  for (;;) {
    let at = skipBlank(text, end);
    if (text[at] === ',' && values.length > 0) at = skipBlank(text, at + 1);
    const name = /(?!Output\b)([A-Za-z_]\w*)\s*[=:]\s*/y;
    name.lastIndex = at;
    const named = name.exec(text);
    const value = scanLiteral(text, named === null ? at : name.lastIndex);
    if (value === undefined) return { values, end };
    values.push({ name: named?.[1] ?? '', value: value.source });
    end = value.end;
  }
}

/** Named arguments in the signature's order when the names are the parameters' own, else as they come. */
function callOf({ entryPoint, definition }: Context, values: Argument[]): string {
  const { positional } = definition.parameters;
  const byName = positional.map((name) => values.filter((argument) => argument.name === name));
  const ordered =
    byName.every((found) => found.length === 1) && values.length === positional.length ? byName.flat() : values;
  return `${entryPoint}(${ordered.map((argument) => argument.value).join(', ')})`;
}

/** The example if its arguments are literals that bind the signature. */
function checked({ definition }: Context, example: Omit<Example, 'at'>): Omit<Example, 'at'> | undefined {
  const literal = literalCall(example.call, definition.parameters.positional);
  if (literal === undefined || !binds(literal.call, definition.parameters)) return undefined;
  return { call: literal.source, value: example.value };
}
