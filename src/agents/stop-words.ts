import type { Problem } from '../problems/problem.ts';

/**
 * Where a base model's completion ends: the lists of the Codex paper for HumanEval and of the usual MBPP set-up (a new top-level thing
 * after the function). OpenAI's completion API takes at most four, so `sent` goes out and `all` is cut here.
 */
export function stopWords(problem: Problem): { sent: string[]; all: string[] } {
  if (problem.kind === 'stdio') return { sent: ['\n"""', '\n```'], all: ['\n"""', '\n```'] };
  if (problem.form === 'completion') {
    const all = ['\nclass', '\ndef', '\n#', '\nif', '\nprint', '\nassert', '\n@', '\n```', '\n"""'];
    return { sent: all.slice(0, 4), all };
  }
  const all = ['\nclass', '\nassert', '\n"""', '\nprint', '\nif', '\n<|/', '\n```'];
  return { sent: all.slice(0, 4), all };
}

/** The text up to its first stop word; all of it when none occurs. */
export function cutAtStop({ text, problem }: { text: string; problem: Problem }): { text: string; stopped: boolean } {
  let end = text.length;
  for (const word of stopWords(problem).all) {
    const at = text.indexOf(word);
    if (at !== -1 && at < end) end = at;
  }
  return { text: text.slice(0, end), stopped: end < text.length };
}
