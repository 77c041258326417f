import { answerTo } from './answer.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** What the model's text is made from; nothing else of a request matters to it. */
export interface ScriptedRequest {
  api: 'chat' | 'completions';
  messages: { role: string; content: string }[];
  maxTokens: number | undefined;
  /** Number of the answer that is drawn; 0 for the script's own. */
  draw: number;
}

export const MODEL = 'scripted';

/** A reply as a value; `message` is what an OpenAI-compatible server puts into `choices[0].message`, or beside the index for plain completions. */
export interface Completion {
  key: string;
  api: 'chat' | 'completions';
  text: string;
  finishReason: string | null;
  promptTokens: number;
}

/** A model's whole text for a conversation; it depends on the messages and the number of the draw alone. */
export type Script = (messages: ScriptedRequest['messages'], draw: number) => string;

/** A reply beyond `max_tokens` is cut and says so. `key` identifies the request. */
export function complete(asked: ScriptedRequest, key: string, script: Script = answerTo): Completion {
  const whole = script(asked.messages, asked.draw);
  const limit = asked.maxTokens ?? Number.POSITIVE_INFINITY;
  const cut = estimateTokens(whole) > limit;
  return {
    key,
    api: asked.api,
    text: cut ? firstBytes(whole, limit * 4) : whole,
    finishReason: cut ? 'length' : 'stop',
    promptTokens: estimateTokens(asked.messages.map(({ content }) => content).join('\n')),
  };
}

export function firstBytes(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString('utf8');
}

/** In OpenAI's shape; usage is an estimate. `fields` replace the text, `own` the outermost fields. */
export function completionBody(
  { key, api, text, finishReason, promptTokens }: Completion,
  { fields, own = {} }: { fields?: object | undefined; own?: object | undefined } = {},
): object {
  const completion_tokens = estimateTokens(text);
  const chat = api === 'chat';
  return {
    id: `scripted-${key.slice(0, 16)}`,
    object: chat ? 'chat.completion' : 'text_completion',
    created: 0,
    model: MODEL,
    choices: [
      chat
        ? { index: 0, message: { role: 'assistant', ...(fields ?? { content: text }) }, finish_reason: finishReason }
        : { index: 0, ...(fields ?? { text }), finish_reason: finishReason },
    ],
    usage: { prompt_tokens: promptTokens, completion_tokens, total_tokens: promptTokens + completion_tokens },
    ...own,
  };
}
