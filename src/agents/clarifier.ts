import type { ClarifierEvidence } from '../activities/contract.ts';
import type { Prompt } from '../models/model.ts';
import type { Problem, VisibleTest } from '../problems/problem.ts';
import type { Unextracted } from './extract-program.ts';
import { chatPrompt, failuresSection, pythonFence, shown, statementSection, testsSection } from './prompt-parts.ts';
import { answerOf, type ReplyLike } from './reply-text.ts';
import { taggedText } from './tagged-text.ts';

const MAX_TESTS_SHOWN = 6;
const MAX_EARLIER_SHOWN = 2;
const MAX_EARLIER_CHARS = 700;
const MAX_CLARIFICATION_CHARS = 4000;

/**
 * Reads the statement anew with all that was learnt from failing at it (§3.5): the last program, synthesised tests with the test judge's word on
 * them, the failures, and earlier clarifications that did not help (so that a further attempt at temperature 0 differs).
 */
export function clarifierPrompt({
  problem,
  evidence,
  complaint,
}: {
  problem: Problem;
  evidence: ClarifierEvidence;
  complaint?: string | undefined;
}): Prompt {
  const earlier = evidence.earlier
    .slice(-MAX_EARLIER_SHOWN)
    .map(({ clarification }, index) => `${index + 1}. ${shown(clarification, MAX_EARLIER_CHARS)}`);
  return chatPrompt({
    agent: 'clarifier',
    version: 'clarifier@1',
    system: 'You find out what a statement really asks for.',
    sections: [
      'Programs written for this problem were not accepted. The statement was probably misunderstood.',
      statementSection(problem),
      testsSection(problem, 'Tests that are known to be right:'),
      `The last program that was not accepted:\n${pythonFence(evidence.code)}`,
      judgedTests('Tests that somebody derived from the statement and a reviewer agreed with:', evidence, true),
      judgedTests('Derived tests that the reviewer held to be wrong:', evidence, false),
      failuresSection(evidence.results, 'What the last program did on derived tests:'),
      earlier.length === 0
        ? undefined
        : `Earlier clarifications that did not lead to an accepted program; take another reading:\n${earlier.join('\n')}`,
      'Which words of the statement can be read in more than one way, and which reading do the known tests support? Then write the clarified problem in at most eight sentences: input, result, the exact rule, and what the rejected program got wrong. No code. Put it between <clarification> and </clarification>.',
    ],
    complaint,
    maxTokens: 512,
  });
}

function judgedTests(title: string, evidence: ClarifierEvidence, kept: boolean): string | undefined {
  const tests = evidence.tests.filter((entry) => entry.kept === kept).slice(0, MAX_TESTS_SHOWN);
  return tests.length === 0
    ? undefined
    : `${title}\n${tests.map(({ test }) => `- ${shown(oneLine(test))}`).join('\n')}`;
}

function oneLine(test: VisibleTest): string {
  return test.kind === 'assert'
    ? test.source
    : `input ${JSON.stringify(test.stdin)} prints ${JSON.stringify(test.stdout)}`;
}

export interface Clarification {
  kind: 'clarification';
  /** The statement as clarified; goes to the generator beside the original one. */
  statement: string;
}

/** The text of the tag; a reply without the tag is taken whole, code blocks left out. */
export function readClarification({ reply }: { reply: ReplyLike }): Clarification | Unextracted {
  if (reply.kind === 'refused') return { kind: 'unusable', reason: 'refused', detail: 'The reply was a refusal.' };
  const answer = answerOf(reply.text);
  if (reply.kind === 'no_final_answer' || answer.unclosedThinking)
    return { kind: 'unusable', reason: 'no_final_answer', detail: 'The reply held reasoning and no final answer.' };
  const tagged = taggedText(answer.text, 'clarification');
  if (reply.kind === 'truncated' && !answer.text.includes('</clarification>')) {
    return {
      kind: 'unusable',
      reason: 'truncated',
      detail: 'The reply was cut off before the end of the clarification; write fewer sentences.',
    };
  }
  const statement = (
    tagged ??
    answer.text.slice(0, 5 * MAX_CLARIFICATION_CHARS).replace(/^[ \t]*```[^\n]*\n[\s\S]*?^[ \t]*```[ \t]*$/gm, '')
  )
    .trim()
    .slice(0, MAX_CLARIFICATION_CHARS);
  if (statement === '')
    return {
      kind: 'unusable',
      reason: answer.text.trim() === '' ? 'empty' : 'no_answer',
      detail: 'The reply held no clarification.',
    };
  return { kind: 'clarification', statement };
}
