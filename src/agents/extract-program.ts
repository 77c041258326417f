import type { UnusableReason } from '../activities/contract.ts';
import type { Problem } from '../problems/problem.ts';
import { type PythonSource, parsePython, skimPython } from '../python-syntax/parse-python.ts';
import { MAX_PARSED_CHARS } from '../python-syntax/tree.ts';
import { blockWeight, isAnswer, OTHER_LANGUAGES } from './block-weight.ts';
import { type CodeBlock, codeBlocks } from './code-blocks.ts';
import { asBody, withOtherDefinitions, withoutOwnTests, withPreamble } from './program-text.ts';
import { answerOf, type ReplyLike } from './reply-text.ts';
import { cutAtStop } from './stop-words.ts';
import { unfencedCode } from './unfenced-code.ts';

export interface Extracted {
  kind: 'program';
  /** A whole program: it defines the entry point (function problems) and holds the statement's imports and helpers. */
  code: string;
  /** Which rule found it, with `+…` for each repair, e.g. `fenced`, `fenced+preamble`, `body`, `unfenced`. */
  rule: string;
}

export interface Unextracted {
  kind: 'unusable';
  reason: UnusableReason;
  detail: string;
}

/**
 * The program in a model's reply.
 *
 * Order of rules: the last fenced block that implements the entry point (`blockWeight` says which blocks lose to an earlier one; imports
 * and helpers that it lacks come from the other blocks), a fenced body that continues the statement, code without fences, a body without
 * fences. Everything Python keeps is kept as written (decorators, `try: import`, constants; the last definition wins because Python
 * says so); only asserts and prints of the model's own that call the entry point go, since they are no part of a program that is imported.
 *
 * A reply that was cut off (`truncated`) is usable if the block with the program was closed and the cut-off rest does not define the entry
 * point anew; otherwise it is `truncated`, however complete the code looks: nobody knows what was to follow.
 * Linear in the length of the reply; what is too long to parse (`MAX_PARSED_CHARS` in all) is judged by its line starts.
 */
export function extractProgram({
  reply,
  problem,
  api,
}: {
  reply: ReplyLike;
  problem: Problem;
  api: 'chat' | 'completions';
}): Extracted | Unextracted {
  if (reply.kind === 'refused') return unusable('refused', 'The reply was a refusal.');
  if (reply.kind === 'no_final_answer')
    return unusable('no_final_answer', 'The reply held reasoning and no final answer.');
  const answer = answerOf(reply.text);
  if (answer.unclosedThinking) return unusable('no_final_answer', 'The reply ended inside its reasoning.');
  if (answer.text.trim() === '') {
    if (answer.toolCall) return unusable('tool_call_garbage', 'The reply was a tool call; no tools are offered here.');
    return unusable('empty', 'The reply was empty.');
  }
  const truncated = reply.kind === 'truncated';
  if (api === 'completions') return continuation({ text: answer.text, problem, truncated });
  const found =
    fenced({ text: answer.text, problem, truncated }) ?? (truncated ? undefined : unfenced(answer.text, problem));
  if (found !== undefined) return found;
  if (answer.toolCall) return unusable('tool_call_garbage', 'The reply was a tool call; no tools are offered here.');
  if (truncated)
    return unusable('truncated', 'The reply was cut off before the program was complete; write a shorter answer.');
  return unusable(
    'no_code',
    problem.kind === 'stdio'
      ? 'The reply held no Python program that prints.'
      : `The reply held no Python code that defines ${problem.entryPoint}.`,
  );
}

function unusable(reason: UnusableReason, detail: string): Unextracted {
  return { kind: 'unusable', reason, detail };
}

/** A base model continues the prompt; the benchmark's stop words end the program where the server did not. */
function continuation({
  text,
  problem,
  truncated,
}: {
  text: string;
  problem: Problem;
  truncated: boolean;
}): Extracted | Unextracted {
  const { text: code, stopped } = cutAtStop({ text, problem });
  if (truncated && !stopped) return unusable('truncated', 'The completion was cut off before the program ended.');
  // Cut at once, e.g. before a second `def`: the statement alone is no program of the model's.
  if (code.trim() === '') return unusable('no_code', 'The completion ended before it began.');
  const inspect = inspector();
  if (problem.form === 'completion' && !inspect(code).implements.has(problem.entryPoint)) {
    return { kind: 'program', code: problem.statement + code, rule: 'continuation' };
  }
  if (problem.kind === 'function' && !inspect(code).implements.has(problem.entryPoint)) {
    return unusable('no_code', `The completion does not define ${problem.entryPoint}.`);
  }
  return program({ code, rule: 'completion', problem, inspect });
}

/** Parses while the reply's budget lasts, so that many long blocks cannot add up. */
type Inspect = (code: string) => PythonSource;

function inspector(): Inspect {
  let left = MAX_PARSED_CHARS;
  const seen = new Map<string, PythonSource>();
  return (code) => {
    const known = seen.get(code);
    if (known !== undefined) return known;
    const source = code.length <= left ? parsePython(code) : skimPython(code);
    if (source.parsed) left -= code.length;
    seen.set(code, source);
    return source;
  };
}

function fenced({
  text,
  problem,
  truncated,
}: {
  text: string;
  problem: Problem;
  truncated: boolean;
}): Extracted | undefined {
  const inspect = inspector();
  let first: Extracted | undefined;
  for (const docstrings of /"""|'''/.test(text) ? [true, false] : [false]) {
    const blocks = codeBlocks({ text, docstrings });
    if (blocks.length === 0) return first;
    const found = fromBlocks({ blocks, problem, truncated, inspect });
    if (found !== undefined && !inspect(found.code).hasErrors) return found;
    first ??= found;
  }
  return first;
}

function fromBlocks({
  blocks,
  problem,
  truncated,
  inspect,
}: {
  blocks: CodeBlock[];
  problem: Problem;
  truncated: boolean;
  inspect: Inspect;
}): Extracted | undefined {
  const usable = blocks
    .map((block) => ({ ...block, code: dedent(block.code) }))
    .filter((block) => block.code.trim() !== '');
  const last = usable.at(-1);
  if (truncated && last !== undefined && !last.closed) {
    usable.pop();
    if (isAnswer(last, problem, inspect)) return undefined;
  }
  let chosen: { index: number; code: string; rule: string; weight: number } | undefined;
  for (let index = usable.length - 1; index >= 0; index -= 1) {
    const block = usable[index];
    if (block === undefined || !isAnswer(block, problem, inspect)) continue;
    const repaired = unescaped(block.code, inspect);
    const code = repaired ?? block.code;
    const weight = blockWeight({ code, problem, inspect });
    if (chosen !== undefined && weight >= chosen.weight) continue;
    chosen = { index, code, rule: repaired === undefined ? 'fenced' : 'fenced+unescaped', weight };
    if (weight === 0) break;
  }
  const body =
    chosen === undefined ||
    (problem.kind === 'function' && inspect(chosen.code).implements.get(problem.entryPoint) !== 'body')
      ? bodyFromBlocks({ blocks: usable, problem, inspect, besidesStub: chosen !== undefined })
      : undefined;
  if (chosen === undefined || body !== undefined) return body;
  const { index } = chosen;
  const readable = (block: CodeBlock) => !OTHER_LANGUAGES.has(block.language) && !inspect(block.code).hasErrors;
  const completed = withOtherDefinitions({
    code: chosen.code,
    earlier: usable.filter((block, at) => at < index && readable(block)).map((block) => block.code),
    later: usable.filter((block, at) => at > index && readable(block)).map((block) => block.code),
    entryPoint: problem.entryPoint,
    known: inspect(problem.preamble).defines,
    inspect,
  });
  return program({
    code: completed,
    rule: completed === chosen.code ? chosen.rule : `${chosen.rule}+helpers`,
    problem,
    inspect,
  });
}

/** The last block that is a body and ends in a result, else (unless a stub stands beside it) the last that is one: an example of use has no `return`. */
function bodyFromBlocks({
  blocks,
  problem,
  inspect,
  besidesStub,
}: {
  blocks: CodeBlock[];
  problem: Problem;
  inspect: Inspect;
  besidesStub: boolean;
}): Extracted | undefined {
  if (problem.form !== 'completion') return undefined;
  const bodies = blocks.flatMap((block) => {
    if (OTHER_LANGUAGES.has(block.language) || inspect(block.code).defines.has(problem.entryPoint)) return [];
    return asBody({ text: block.code, problem, inspect }) ?? [];
  });
  const body =
    bodies.findLast((one) => /\b(?:return|yield|raise)\b/.test(one)) ?? (besidesStub ? undefined : bodies.at(-1));
  return body === undefined ? undefined : { kind: 'program', code: problem.statement + body, rule: 'fenced-body' };
}

function unfenced(text: string, problem: Problem): Extracted | undefined {
  const inspect = inspector();
  const clean = text.replace(/^[ \t]*(?:`{3,}|~{3,})[^\n]{0,40}$/gm, '').replace(/\n[ \t]*`{1,2}[ \t]*$/, '');
  const margin = marginOf(clean, problem.entryPoint);
  const code = unfencedCode(margin === '' ? clean : `\n${clean}`.replaceAll(`\n${margin}`, '\n'));
  const block = { language: '', code, closed: true };
  if (code !== '' && isAnswer(block, problem, inspect)) {
    const repaired = unescaped(code, inspect);
    return program({
      code: repaired ?? code,
      rule: repaired === undefined ? 'unfenced' : 'unfenced+unescaped',
      problem,
      inspect,
    });
  }
  if (problem.form !== 'completion') return undefined;
  const body = asBody({ text: clean, problem, inspect });
  return body === undefined ? undefined : { kind: 'program', code: problem.statement + body, rule: 'body' };
}

/** Indentation of an entry point that stands nowhere at the left margin: Markdown's indented code. */
function marginOf(text: string, entryPoint: string): string {
  if (entryPoint === '') return '';
  const definition = new RegExp(`^([ \\t]{0,40})(?:async )?def ${entryPoint.replace(/\W/g, '')}\\b`, 'gm');
  const [first] = text.matchAll(definition);
  // Below something at the left margin it is a method or an inner function.
  if (first === undefined || /^(?:class|(?:async )?def)\b/m.test(text.slice(0, first.index))) return '';
  return first[1] ?? '';
}

/** Takes away the indentation all lines share. */
function dedent(code: string): string {
  const lines = code.split('\n');
  let common: string | undefined;
  for (const line of lines) {
    if (line.trim() === '') continue;
    const indent = /^[ \t\u00A0]{0,200}/.exec(line)?.[0] ?? '';
    common = common === undefined || common.startsWith(indent) ? indent : indent.startsWith(common) ? common : '';
    if (common === '') return code;
  }
  const width = common?.length ?? 0;
  return lines.map((line) => line.slice(width)).join('\n');
}

const ENTITIES: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&amp;': '&',
};

/** HTML entities undone, only where that turns broken code into good code. */
function unescaped(code: string, inspect: Inspect): string | undefined {
  if (!/&(?:lt|gt|quot|amp|#39|#x27);/.test(code) || !inspect(code).hasErrors) return undefined;
  const plain = code.replace(/&(?:lt|gt|quot|amp|#39|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
  return inspect(plain).hasErrors ? undefined : plain;
}

function program({
  code,
  rule,
  problem,
  inspect,
}: {
  code: string;
  rule: string;
  problem: Problem;
  inspect: Inspect;
}): Extracted {
  if (problem.kind === 'stdio') return { kind: 'program', code: ending(code), rule };
  const tested = withoutOwnTests({ code, entryPoint: problem.entryPoint, source: inspect(code) });
  const whole = withPreamble({ code: tested, preamble: problem.preamble, inspect });
  return {
    kind: 'program',
    code: ending(whole),
    rule: rule + (tested === code ? '' : '+tests-dropped') + (whole === tested ? '' : '+preamble'),
  };
}

function ending(code: string): string {
  return `${code.trimEnd()}\n`;
}
