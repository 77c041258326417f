import type { ModelReply } from '../models/model.ts';
import { type IsQuoted, quotedSpans } from './quoted-spans.ts';

/** What an agent reads of a reply. */
export type ReplyLike = Pick<ModelReply, 'kind' | 'text' | 'reasoning' | 'finishReason'>;

export interface ReplyText {
  /** The answer: thinking blocks, tool calls and the tokens that end a reply are gone. */
  text: string;
  /** A thinking block that never ends: whatever follows its tag is a draft, not an answer. */
  unclosedThinking: boolean;
  toolCall: boolean;
}

/** The part of a reply that is meant as the answer. Linear time; any text. */
export function answerOf(raw: string): ReplyText {
  const text = raw
    .toWellFormed()
    .replace(/^\uFEFF/, '')
    .replaceAll('\0', '')
    .replace(/\r\n?/g, '\n');
  const called = withoutToolCalls(text);
  const thought = withoutThinking(called.text);
  return { text: withoutEndTokens(thought.text), unclosedThinking: thought.unclosed, toolCall: called.found };
}

const THINKING_TAG = /<(\/?)(?:think|thinking|thought|reasoning|reason)>/gi;

/**
 * Removes thinking blocks, nested ones too; a closing tag without an opening one (chat templates open the block in the prompt) ends a
 * block that began with the text. Tags in string literals and comments are text that a program handles, not marks of the reply.
 */
export function withoutThinking(text: string): { text: string; unclosed: boolean } {
  let kept = '';
  let keptTo = 0;
  let depth = 0;
  const quoted = quotedSpans(text);
  for (const match of text.matchAll(THINKING_TAG)) {
    const end = match.index + match[0].length;
    if (isQuoted({ text, from: match.index, to: end, opening: match[1] === '', quoted })) continue;
    if (match[1] === '') {
      if (depth === 0) kept += text.slice(keptTo, match.index);
      depth += 1;
    } else {
      if (depth === 0) kept = '';
      depth = Math.max(0, depth - 1);
      if (depth === 0) keptTo = end;
    }
  }
  return depth > 0 ? { text: kept, unclosed: true } : { text: kept + text.slice(keptTo), unclosed: false };
}

const TOOL_MARKS =
  /<(\/?)(tool_call|tool_calls|function_call|tool_code|invoke|function_calls)>|<\|?(?:tool_call|tool_calls_section)[\w｜▁]*\|?>|\[TOOL_CALLS\]/gi;

function withoutToolCalls(text: string): { text: string; found: boolean } {
  let kept = '';
  let keptTo = 0;
  let open: string | undefined;
  let found = false;
  const quoted = quotedSpans(text);
  for (const match of text.matchAll(TOOL_MARKS)) {
    const end = match.index + match[0].length;
    if (isQuoted({ text, from: match.index, to: end, opening: match[1] !== '/', quoted })) continue;
    found = true;
    const name = match[2]?.toLowerCase();
    if (open === undefined && match[1] !== '/') {
      kept += text.slice(keptTo, match.index);
      open = name ?? 'to the end';
    } else if (open === name) {
      open = undefined;
      keptTo = end;
    }
  }
  if (open !== undefined) return { text: kept, found };
  const rest = kept + text.slice(keptTo);
  return { text: rest, found: found || isCallObject(rest) };
}

/** A reply that is one JSON object with a name and arguments. */
function isCallObject(text: string): boolean {
  if (!text.trimStart().startsWith('{') || text.length > 100_000) return false;
  try {
    const value: unknown = JSON.parse(text);
    return (
      typeof value === 'object' && value !== null && 'name' in value && ('arguments' in value || 'parameters' in value)
    );
  } catch {
    return false;
  }
}

/** `<|endoftext|>`, `<|im_end|>`, `<|eot_id|>`, `<｜end▁of▁sentence｜>`; what a model writes after one belongs to another text. */
const END_TOKEN =
  /<[|｜](?:endoftext|im_end|eot_id|eom_id|end_of_text|end|end[▁_]of[▁_]sentence|file_sep|file_separator)[|｜]>|<end_of_turn>/g;
const OTHER_TOKEN = /<[|｜][\w▁ ]{1,40}[|｜]>(?:assistant\n)?|<start_of_turn>(?:model\n)?/g;
const LINE_END_TOKEN = /(?:<\/s>|<s>|<eos>|<bos>|<pad>|\[\/?INST\]){1,8}[ \t]{0,20}$/gm;

function withoutEndTokens(text: string): string {
  let answer = text;
  const quoted = quotedSpans(text);
  for (const match of text.matchAll(END_TOKEN)) {
    const [from, to] = [match.index, match.index + match[0].length];
    if (isQuoted({ text, from, to, quoted }) || !/\S/.test(text.slice(0, from))) continue;
    answer = text.slice(0, match.index);
    break;
  }
  return withoutTokens(withoutTokens(withoutTokens(answer, END_TOKEN), OTHER_TOKEN), LINE_END_TOKEN);
}

function withoutTokens(text: string, tokens: RegExp): string {
  let kept = '';
  let keptTo = 0;
  const quoted = quotedSpans(text);
  for (const match of text.matchAll(tokens)) {
    const end = match.index + match[0].length;
    if (isQuoted({ text, from: match.index, to: end, quoted })) continue;
    kept += text.slice(keptTo, match.index);
    keptTo = end;
  }
  return kept + text.slice(keptTo);
}

/**
 * A mark inside a string literal or a comment is text that a program handles; so is, where no whole literal can be seen, an opening mark right
 * behind a quote, any other right before one, or either in a Markdown code span.
 */
function isQuoted({
  text,
  from,
  to,
  opening = false,
  quoted,
}: {
  text: string;
  from: number;
  to: number;
  opening?: boolean;
  quoted: IsQuoted;
}): boolean {
  const before = text[from - 1] ?? '';
  const after = text[to] ?? '';
  if (before === '`' && after === '`') return true;
  return /["']/.test(opening ? before : after) || quoted(from);
}
