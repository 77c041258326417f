import type { Prompt } from '../models/model.ts';
import type { Problem, VisibleTest } from '../problems/problem.ts';
import { callForms, type Parameter, parametersOf } from '../python-syntax/call-forms.ts';
import { maskExpected } from '../python-syntax/mask-expected.ts';
import { spelling } from '../python-syntax/spelling.ts';
import { splitAsserts } from '../python-syntax/split-asserts.ts';
import type { Unextracted } from './extract-program.ts';
import { chatPrompt, statementSection, testsSection } from './prompt-parts.ts';
import { answerOf, type ReplyLike } from './reply-text.ts';
import { taggedText, taggedTexts } from './tagged-text.ts';

/**
 * Common cases only (§3.2: they serve better than corner cases). The queries look at different inputs, because near temperature 0 the same
 * question would give the same tests five times.
 */
const FOCUS = [
  'Choose ordinary inputs like those in the examples, with other values.',
  'Choose short, simple inputs whose result is easy to work out by hand.',
  'Choose inputs of medium size, a little longer than the examples.',
  'Choose ordinary inputs so that the results differ as much as possible from one test to the next.',
  'Choose ordinary inputs in another order or arrangement than the examples: sorted, reversed, repeated, mixed.',
];

export const DESIGNER_QUERIES = FOCUS.length;
const MAX_TEST_CHARS = 2000;
/** Tests of one reply that are looked at. */
const MAX_TESTS_READ = 200;

/** Query numbers beyond the five repeat their focus with a number in the text, so that no two queries are the same. */
export function testDesignerPrompt({
  problem,
  query,
  count,
  complaint,
}: {
  problem: Problem;
  query: number;
  count: number;
  complaint?: string | undefined;
}): Prompt {
  const focus = FOCUS[query % FOCUS.length] ?? '';
  const round =
    query < FOCUS.length ? '' : ` This is set ${Math.floor(query / FOCUS.length) + 1}; use other inputs than before.`;
  const form =
    problem.kind === 'stdio'
      ? 'Write each test as\n<test>\n<input>\nwhat is typed in\n</input>\n<output>\nwhat must be printed\n</output>\n</test>\nand write nothing else.'
      : `Write each test as one line "assert ${problem.entryPoint}(…) == …" with literal values, in one \`\`\`python code block. End each line with its number as a comment, # 1 to # ${count}; close the block after # ${count} and write nothing else. No two tests may share an input.`;
  return chatPrompt({
    agent: 'testDesigner',
    version: `test-designer/${query}@1`,
    system: 'Your tests state what the problem demands.',
    sections: [
      `Write ${count} new tests for a program that solves this problem. Test common cases, not exotic ones. ${focus}${round}`,
      statementSection(problem),
      testsSection(problem, 'Tests that exist already (do not repeat them):'),
      'Work out each expected result carefully from the problem statement.',
      form,
    ],
    complaint,
    maxTokens: 700,
    temperature: 0.1,
  });
}

export interface DesignedTests {
  kind: 'tests';
  tests: VisibleTest[];
}

/**
 * The tests of a reply, at most `count`, without doubles. Dropped: what is not one assert on the entry point, the last test of a cut-off
 * reply, and tests with the input of a visible test, however it is wrapped or written: running those would execute visible tests, which
 * MBPP's Standard setting must not. (A call with keywords is compared with one without where the statement gives the signature.)
 */
export function readTests({
  reply,
  problem,
  count,
}: {
  reply: ReplyLike;
  problem: Problem;
  count?: number | undefined;
}): DesignedTests | Unextracted {
  if (reply.kind === 'refused') return { kind: 'unusable', reason: 'refused', detail: 'The reply was a refusal.' };
  const answer = answerOf(reply.text);
  if (reply.kind === 'no_final_answer' || answer.unclosedThinking)
    return { kind: 'unusable', reason: 'no_final_answer', detail: 'The reply held reasoning and no final answer.' };
  if (answer.text.trim() === '') return { kind: 'unusable', reason: 'empty', detail: 'The reply was empty.' };
  const found = problem.kind === 'stdio' ? readRuns(answer.text) : readAsserts(answer.text, reply.kind === 'truncated');
  const { entryPoint } = problem;
  const parameters =
    problem.form === 'completion' ? parametersOf({ source: problem.statement, name: entryPoint }) : undefined;
  const inputs = (test: VisibleTest) => inputsOf({ test, entryPoint, parameters });
  const visible = new Set(problem.visibleTests.flatMap(inputs));
  const seen = new Set<string>();
  const tests: VisibleTest[] = [];
  for (const test of found.slice(0, MAX_TESTS_READ)) {
    const asked = inputs(test);
    const all = asked.join('\n');
    if (asked.length === 0 || seen.has(all) || asked.some((input) => visible.has(input))) continue;
    seen.add(all);
    tests.push(test);
    if (tests.length === count) break;
  }
  if (tests.length > 0) return { kind: 'tests', tests };
  if (reply.kind === 'truncated')
    return { kind: 'unusable', reason: 'truncated', detail: 'The reply was cut off before the first whole test.' };
  return { kind: 'unusable', reason: 'no_answer', detail: 'The reply held no new, well-formed test.' };
}

function readAsserts(text: string, truncated: boolean): VisibleTest[] {
  const bare = text
    .replace(/^[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?`{0,3}(?=assert\b)/gm, '')
    .replace(/^(assert\b[^\n`]*)`{1,3}[ \t]*$/gm, '$1');
  const sources = splitAsserts(bare);
  if (truncated && !/\n[ \t]*(?:`{3}|~{3})[ \t]*(?:\n|$)/.test(text.slice(text.lastIndexOf('assert')))) sources.pop();
  return sources.filter((source) => source.length <= MAX_TEST_CHARS).map((source) => ({ kind: 'assert', source }));
}

function readRuns(text: string): VisibleTest[] {
  const tests: VisibleTest[] = [];
  for (const block of taggedTexts(text, 'test')) {
    const stdin = taggedText(block, 'input')?.replace(/^\n/, '');
    const stdout = taggedText(block, 'output')?.replace(/^\n/, '');
    if (stdin !== undefined && stdout !== undefined && block.length <= MAX_TEST_CHARS)
      tests.push({ kind: 'stdio', stdin, stdout });
  }
  return tests;
}

/** What a test feeds the program, each input in one spelling; nothing where it does not test the program. */
function inputsOf({
  test,
  entryPoint,
  parameters,
}: {
  test: VisibleTest;
  entryPoint: string;
  parameters: Parameter[] | undefined;
}): string[] {
  if (test.kind === 'stdio') return [test.stdin.trimEnd()];
  const masked = maskExpected({ assertSource: test.source, entryPoint });
  if (masked === undefined) return [];
  const calls = callForms({ assertSource: test.source, entryPoint, parameters });
  return calls.length > 0 ? calls : [spelling(masked.call)];
}
