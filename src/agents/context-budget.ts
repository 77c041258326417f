import type { ChatMessage } from '../models/model.ts';

/** No token of the vocabularies in use is longer; runs of spaces come nearest. */
const MAX_TOKEN_BYTES = 128;

/**
 * A lower bound on a prompt's tokens, for refusing what certainly cannot fit. It must never refuse a prompt that would fit, so it counts less
 * than any tokenizer does. Assumption: a token holds letters of one word only (BPE and SentencePiece vocabularies split at white space
 * before they merge), so a text has at least as many tokens as words parted by white space; and no token is longer than 128 bytes.
 * Templates, roles and special tokens come on top and are not counted.
 */
export function estimateTokens(messages: Pick<ChatMessage, 'content'>[]): number {
  let tokens = 0;
  for (const { content } of messages) {
    let words = 0;
    let inWord = false;
    for (let at = 0; at < content.length; at += 1) {
      const space = isSpace(content.charCodeAt(at));
      if (!space && !inWord) words += 1;
      inWord = !space;
    }
    // UTF-8 is never shorter than one byte a UTF-16 unit.
    tokens += Math.max(words, Math.ceil(content.length / MAX_TOKEN_BYTES));
  }
  return tokens;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** True when the prompt and the whole reply certainly do not fit the context window that the spec declares. */
export function exceedsContext({
  messages,
  maxTokens,
  contextTokens,
}: {
  messages: ChatMessage[];
  maxTokens: number;
  contextTokens: number;
}): boolean {
  return estimateTokens(messages) + maxTokens > contextTokens;
}
