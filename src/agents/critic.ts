import type { Prompt } from '../models/model.ts';
import type { Problem } from '../problems/problem.ts';
import type { Unextracted } from './extract-program.ts';
import { chatPrompt, pythonFence, statementSection, testsSection } from './prompt-parts.ts';
import { type Judgement, readVerdict } from './read-verdict.ts';
import type { ReplyLike } from './reply-text.ts';

/** The yes/no classifier that Table 5 compares Imagined Execution with: a direct opinion, without tracing any test. */
export function criticPrompt({
  problem,
  code,
  complaint,
}: {
  problem: Problem;
  code: string;
  complaint?: string | undefined;
}): Prompt {
  return chatPrompt({
    agent: 'critic',
    version: 'critic@1',
    system: 'You say whether a program solves its problem.',
    sections: [
      statementSection(problem),
      testsSection(problem, 'Tests that a right program passes:'),
      `Program:\n${pythonFence(code)}`,
      'Is this program correct for every valid input? Give your main reason in at most three sentences. End with one line, exactly "Verdict: correct" or "Verdict: incorrect".',
    ],
    complaint,
    maxTokens: 300,
  });
}

/** `accept` is true for a program held to be correct. */
export function readCriticism({ reply }: { reply: ReplyLike }): Judgement | Unextracted {
  return readVerdict(reply);
}
