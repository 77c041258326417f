import type { Prompt } from '../models/model.ts';
import type { Problem, VisibleTest } from '../problems/problem.ts';
import { maskExpected } from '../python-syntax/mask-expected.ts';
import type { Unextracted } from './extract-program.ts';
import { chatPrompt, statementSection, testList, testsSection } from './prompt-parts.ts';
import { type Judgement, readVerdict } from './read-verdict.ts';
import type { ReplyLike } from './reply-text.ts';

/**
 * The Test Quality Checker (§3.4): infers the output of one synthesised test from the problem statement alone, never from a program, and
 * keeps the test only if that is the output it proclaims.
 */
export function testJudgePrompt({
  problem,
  test,
  complaint,
}: {
  problem: Problem;
  test: VisibleTest;
  complaint?: string | undefined;
}): Prompt {
  const masked =
    test.kind === 'assert' ? maskExpected({ assertSource: test.source, entryPoint: problem.entryPoint }) : undefined;
  const question = masked === undefined ? 'the input of the test' : masked.call;
  return chatPrompt({
    agent: 'testJudge',
    version: 'test-judge@1',
    system: 'You work out results from the statement and trust no proclaimed value.',
    sections: [
      statementSection(problem),
      testsSection(problem, 'Examples that are known to be right:'),
      `Test to judge:\n${testList([test])}`,
      `Step 1: apply the problem statement to ${question}, step by step, in short lines, and write the result you get.`,
      'Step 2: compare your result with the one in the test.',
      'End with one line: "Verdict: correct" if they are the same, "Verdict: incorrect" if they differ.',
    ],
    complaint,
    maxTokens: 400,
  });
}

/** `accept` is true for a test to keep. */
export function readTestVerdict({ reply }: { reply: ReplyLike }): Judgement | Unextracted {
  return readVerdict(reply);
}
