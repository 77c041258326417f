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
const DECORATION = '[*_`#>"\'~ \\t]';
/** `Verdict:` at the start of a line, with or without its word; group 1 is what follows. */
const LABEL = new RegExp(
  `^(?:${DECORATION}|[-+] |\\d{1,3}[.)]){0,12}(?:final )?verdict${DECORATION}{0,6}(?:[:=–—-]|is\\b|$)[:]?(.*)$`,
  'i',
);
/** The word, then nothing, or punctuation that ends it; group 2 is the rest. */
const ANSWER = new RegExp(
  `^[*_\`"'(<[ \\t]{0,8}${WORD}(?![\\w])[*_\`"')>\\] \\t]{0,8}(?:$|([.,;:!?(–—-]+(?:[*_\`"') \\t]|$).*|[(].*))$`,
  'i',
);

/** What takes an acceptance back, or leaves it open. */
const AGAINST_YES =
  /\b(?:incorrect|wrong|not|no|never|fail\w*|but|except|however|although|unless|only|if|when|bugs?|errors?|invalid|partial\w*|mostly|or)\b|n['’]t\b/i;
const HARMLESS = /\b(?:no|without(?: any)?|any)(?: \w+)? (?:issues?|errors?|bugs?|problems?|mistakes?|faults?)\b/gi;
/** What takes a rejection back: the other word at the end, or right behind an "or". */
const AGAINST_NO = new RegExp(
  `^\\W*or\\b|(?<!\\b(?:not|n['’]t|than|be) )\\b(?:${YES.join('|')})[*_\`"'.!) \\t]*$`,
  'i',
);
const MAX_LINE_CHARS = 1000;

/**
 * The verdict of a reply: its last line that begins with "Verdict" (or a line that is that word alone, with the next one), where the verdict
 * word stands alone or before punctuation and nothing behind it says otherwise; without such a line, a last line that is a verdict word and
 * nothing else. Prose is never searched for a verdict, and of a reply that was cut off the last, unfinished line does not count:
 * unusable is asked again, a wrong guess is not.
 */
export function readVerdict(reply: ReplyLike): Judgement | Unextracted {
  if (reply.kind === 'refused') return { kind: 'unusable', reason: 'refused', detail: 'The reply was a refusal.' };
  const answer = answerOf(reply.text);
  if (reply.kind === 'no_final_answer' || answer.unclosedThinking)
    return { kind: 'unusable', reason: 'no_final_answer', detail: 'The reply held reasoning and no final answer.' };
  if (answer.text.trim() === '') return { kind: 'unusable', reason: 'empty', detail: 'The reply was empty.' };
  const truncated = reply.kind === 'truncated';
  const lines = answer.text.split('\n');
  if (truncated) lines.pop();
  const filled = lines.filter((line) => line.trim() !== '').map((line) => line.trim().slice(0, MAX_LINE_CHARS));
  const accept = verdictIn(filled, !truncated);
  if (accept !== undefined) return { kind: 'judgement', accept };
  if (truncated)
    return {
      kind: 'unusable',
      reason: 'truncated',
      detail: 'The reply was cut off before its verdict; reason more briefly.',
    };
  return { kind: 'unusable', reason: 'no_answer', detail: 'The reply held no line "Verdict: …" with one clear word.' };
}

function verdictIn(lines: string[], complete: boolean): boolean | undefined {
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const said = LABEL.exec(lines[index] ?? '')?.[1];
    if (said === undefined) continue;
    const bare = /^[*_`#:"' \t]*$/.test(said);
    return acceptance(bare ? (lines[index + 1] ?? '').replace(/^[#>\-+ \t]{0,8}/, '') : said);
  }
  const last = lines.at(-1) ?? '';
  return complete && last.length < 60 ? acceptance(last.replace(/^[#> \t]{0,8}/, '')) : undefined;
}

function acceptance(said: string): boolean | undefined {
  const [, word, rest = ''] = ANSWER.exec(said) ?? [];
  if (word === undefined) return undefined;
  const accept = YES.includes(word.toLowerCase());
  const against = accept ? AGAINST_YES : AGAINST_NO;
  return against.test(rest.replace(HARMLESS, '')) ? undefined : accept;
}
