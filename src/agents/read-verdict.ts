import type { Unextracted } from './extract-program.ts';
import { answerOf, type ReplyLike } from './reply-text.ts';

export interface Judgement {
  kind: 'judgement';
  accept: boolean;
}

const YES = ['correct', 'yes', 'right', 'agrees', 'agree', 'accept', 'accepted', 'true', 'pass', 'passes', 'valid'];
const NO = [
  'incorrect',
  'no',
  'wrong',
  'disagrees',
  'disagree',
  'reject',
  'rejected',
  'false',
  'fail',
  'fails',
  'invalid',
  'not correct',
  'not right',
];
const WORD = `(${[...NO, ...YES].sort((a, b) => b.length - a.length).join('|')})`;
const VERDICT = new RegExp(
  `\\b(?:verdict|answer|judge?ment|conclusion)\\b[*_\`: \\t]{1,12}(?:is[: \\t]+)?[*_\`"'(<]{0,4}${WORD}\\b`,
  'gi',
);
const ALONE = new RegExp(`^[*_\`"'#> \\t]{0,6}${WORD}[*_\`"'.! \\t]{0,6}$`, 'i');

/**
 * The last "Verdict: …" of a reply; without one, a first or last line that is a verdict word and nothing else. Anything more lenient would
 * take a word of the reasoning for the answer.
 */
export function readVerdict(reply: ReplyLike): Judgement | Unextracted {
  if (reply.kind === 'refused') return { kind: 'unusable', reason: 'refused', detail: 'The reply was a refusal.' };
  const answer = answerOf(reply.text);
  if (reply.kind === 'no_final_answer' || answer.unclosedThinking)
    return { kind: 'unusable', reason: 'no_final_answer', detail: 'The reply held reasoning and no final answer.' };
  const text = answer.text.trim();
  if (text === '') return { kind: 'unusable', reason: 'empty', detail: 'The reply was empty.' };
  let word: string | undefined;
  for (const match of text.matchAll(VERDICT)) word = match[1];
  word ??= ALONE.exec(text.slice(text.lastIndexOf('\n') + 1))?.[1] ?? ALONE.exec(text.split('\n', 1)[0] ?? '')?.[1];
  if (word !== undefined) return { kind: 'judgement', accept: YES.includes(word.toLowerCase()) };
  if (reply.kind === 'truncated')
    return {
      kind: 'unusable',
      reason: 'truncated',
      detail: 'The reply was cut off before its verdict; reason more briefly.',
    };
  return { kind: 'unusable', reason: 'no_answer', detail: 'The reply held no line "Verdict: …".' };
}
