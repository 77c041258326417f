import type { EndpointProblem } from './classify-error.ts';
import type { ModelReply, ReplyKind } from './model.ts';

export type ClassifiedReply =
  | { kind: 'reply'; reply: Omit<ModelReply, 'latencyMs'> }
  /** An error inside HTTP 200. */
  | { kind: 'problem'; problem: EndpointProblem }
  /** Not a completion at all. */
  | { kind: 'malformed'; detail: string };

type Fields = Readonly<Record<string, unknown>>;

/** Reads the body of an HTTP 200, of `chat/completions` or `completions`. Total: any text gives an answer. */
export function classifyReply(body: string): ClassifiedReply {
  const parsed = parse(body);
  if (parsed === undefined) {
    const page = /^\s*</.test(body) ? 'a web page' : body.trim() === '' ? 'an empty body' : 'no JSON object';
    return { kind: 'malformed', detail: `HTTP 200 with ${page} instead of a completion` };
  }
  const problem = problemIn(parsed.error);
  if (problem !== undefined) return { kind: 'problem', problem };
  if (!('choices' in parsed)) return { kind: 'malformed', detail: 'HTTP 200 without "choices"' };

  const common = { usage: usageOf(parsed.usage), model: text(parsed.model) };
  const choice = Array.isArray(parsed.choices) ? fields(parsed.choices[0]) : undefined;
  if (choice === undefined) {
    const kind = filtered(parsed) ? 'refused' : 'empty';
    return { kind: 'reply', reply: { kind, text: '', reasoning: '', finishReason: '', ...common } };
  }
  const finishReason = text(choice.finish_reason);
  const inner = problemIn(choice.error);
  if (inner !== undefined) return { kind: 'problem', problem: inner };
  if (finishReason === 'error')
    return { kind: 'malformed', detail: 'HTTP 200 whose completion ended with finish reason "error"' };

  const message = fields(choice.message) ?? choice;
  const content = contentOf(message.content ?? choice.text);
  const reasoning = text(message.reasoning_content) || text(message.reasoning);
  const refusal = text(message.refusal) || content.refusal;
  const kind = replyKind({ content: content.text, reasoning, refusal, finishReason });
  const said = content.text === '' && kind === 'refused' ? refusal : content.text;
  return { kind: 'reply', reply: { kind, text: said, reasoning, finishReason, ...common } };
}

/**
 * Finish reasons beyond `length` and `content_filter` say nothing reliable (`eos`, `abort`, empty, null are all seen on good
 * replies): the text decides.
 */
function replyKind({
  content,
  reasoning,
  refusal,
  finishReason,
}: {
  content: string;
  reasoning: string;
  refusal: string;
  finishReason: string;
}): ReplyKind {
  const reason = finishReason.toLowerCase();
  if (refusal.trim() !== '' || reason === 'content_filter' || reason === 'refusal') return 'refused';
  if (isOnlyThinking(content)) return 'no_final_answer';
  const silent = content.trim() === '';
  if (silent && reasoning.trim() !== '') return 'no_final_answer';
  if (reason === 'length' || reason === 'max_tokens') return 'truncated';
  return silent ? 'empty' : 'ok';
}

/** The text is one thinking block that never closes, or after whose end nothing follows. */
function isOnlyThinking(content: string): boolean {
  const opening = /^\s*<(think|thinking|thought|reasoning|reason)>/i.exec(content);
  if (opening === null) return false;
  const closing = `</${opening[1]?.toLowerCase()}>`;
  const end = content.toLowerCase().lastIndexOf(closing);
  return end < 0 || content.slice(end + closing.length).trim() === '';
}

/** `content` is text, null, absent, or (some servers) a list of parts. */
function contentOf(value: unknown): { text: string; refusal: string } {
  if (!Array.isArray(value)) return { text: text(value), refusal: '' };
  const parts: Fields[] = value.map((part: unknown) => fields(part) ?? { text: part });
  return {
    text: parts.map((part) => text(part.text)).join(''),
    refusal: parts.map((part) => text(part.refusal)).join(''),
  };
}

function problemIn(value: unknown): EndpointProblem | undefined {
  if (saysNothing(value) || (fields(value) !== undefined && Object.values(fields(value) ?? {}).every(saysNothing)))
    return undefined;
  const error = fields(value) ?? { message: text(value) };
  const code = error.code ?? error.status;
  const status = typeof code === 'number' ? code : /^[1-5]\d\d$/.test(text(code)) ? Number(code) : undefined;
  const inRange = status !== undefined && status >= 400 && status <= 599;
  return {
    status: inRange ? status : undefined,
    code: text(code) || undefined,
    type: text(error.type) || undefined,
    message: text(error.message) || JSON.stringify(value),
  };
}

/** What servers that always send an `error` field put there when there is none. */
function saysNothing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === 0 ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** Azure's annotations on a reply without choices. */
function filtered(body: Fields): boolean {
  const notes = JSON.stringify([
    body.prompt_filter_results,
    body.content_filter_results,
    body.promptFeedback,
  ] satisfies unknown[]);
  return /"filtered":true|"blockReason"/.test(notes);
}

function usageOf(value: unknown): ModelReply['usage'] {
  const usage = fields(value);
  if (usage === undefined) return null;
  const prompt = count(usage.prompt_tokens);
  const completion = count(usage.completion_tokens);
  return prompt === undefined && completion === undefined ? null : { prompt: prompt ?? 0, completion: completion ?? 0 };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function parse(body: string): Fields | undefined {
  try {
    return fields(JSON.parse(body.replace(/^\uFEFF/, '')));
  } catch {
    return undefined;
  }
}

function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
