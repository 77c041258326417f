import type { ChatMessage, Prompt } from '../models/model.ts';
import type { Problem, VisibleTest } from '../problems/problem.ts';
import { bareCode } from '../python-syntax/bare-code.ts';
import { maskExpected } from '../python-syntax/mask-expected.ts';
import { parsePython } from '../python-syntax/parse-python.ts';
import { spelling } from '../python-syntax/spelling.ts';
import { splitAsserts } from '../python-syntax/split-asserts.ts';
import type { Unextracted } from './extract-program.ts';
import { chatPrompt, complaintSection, pythonFence, statementSection } from './prompt-parts.ts';
import { answerOf, type ReplyLike } from './reply-text.ts';
import { taggedText } from './tagged-text.ts';

/**
 * Imagined Execution (App. G): one conversation of two turns a visible test. The first turn asks for a trace of the call, the second for
 * the test case with the value in it. The statement is shown only with `problem` (1.6 I).
 *
 * App. G shows programs without docstrings, and so does this (`bareCode`): a docstring taken over from a HumanEval statement holds the
 * examples with the very values that are asked for, and so may comments and a model's own asserts; the checker would read them instead of
 * tracing. Only the shown text differs; the program that is stored and run keeps all of it.
 */
export interface ImaginedExecutionInput {
  code: string;
  test: VisibleTest;
  entryPoint: string;
  problem?: Problem | undefined;
}

const SYSTEM = 'You follow the code exactly as written, line by line, even where it looks wrong.';
const TRACE_TOKENS = 512;
const ANSWER_TOKENS = 256;
/** The trace goes back to the model as its own turn; a longer one would crowd a small context window. */
const MAX_TRACE_CHARS = 4000;

/** First turn; undefined when the test asks for no value of the entry point (no assert, no call of it): nothing to imagine. */
export function imaginedExecutionPrompt({
  code,
  test,
  entryPoint,
  problem,
}: ImaginedExecutionInput): Prompt | undefined {
  const question = questionOf(test, entryPoint);
  if (question === undefined) return undefined;
  return chatPrompt({
    agent: 'imaginedExecution',
    version: 'imagined-execution/trace@2',
    system: SYSTEM,
    sections: [
      problem === undefined ? undefined : statementSection(problem),
      `<function>\n${pythonFence(bareCode({ source: code, entryPoint }))}\n</function>`,
      question,
      test.kind === 'stdio'
        ? 'Run this program on this standard input in your head. Note the values of the variables as they change, in short lines, and finish with exactly what it prints.'
        : 'Run this call of the function in your head. Note the values of the variables as they change, in short lines, and finish with the value that comes out. Do not write code.',
    ],
    maxTokens: TRACE_TOKENS,
  });
}

function questionOf(test: VisibleTest, entryPoint: string): string | undefined {
  if (test.kind === 'stdio')
    return `<input>\n${test.stdin}${test.stdin === '' || test.stdin.endsWith('\n') ? '' : '\n'}</input>`;
  const masked = maskExpected({ assertSource: test.source, entryPoint });
  if (masked === undefined) return undefined;
  return `<function_call>\n${masked.shape === 'plain' ? masked.call : masked.masked}\n</function_call>`;
}

/** Second turn, on top of the first and its reply. */
export function completionPrompt({
  first,
  firstReply,
  test,
  entryPoint,
  complaint,
}: {
  first: Prompt;
  firstReply: string;
  test: VisibleTest;
  entryPoint: string;
  complaint?: string | undefined;
}): Prompt {
  const trace = answerOf(firstReply).text.trim();
  const shownTrace =
    trace.length <= MAX_TRACE_CHARS
      ? trace
      : `${trace.slice(0, MAX_TRACE_CHARS / 4)}\n…\n${trace.slice(-(MAX_TRACE_CHARS * 3) / 4)}`;
  const masked = test.kind === 'assert' ? (maskExpected({ assertSource: test.source, entryPoint })?.masked ?? '') : '';
  const ask =
    test.kind === 'stdio'
      ? 'By that reasoning, write exactly what the program prints, and nothing else, between <output> and </output>.'
      : `By that reasoning, complete this test case: put the value your trace arrived at in the place of the question mark.\n${masked}\nReply with the completed assert alone, between <test_case> and </test_case>.`;
  const messages: ChatMessage[] = [
    ...first.messages,
    { role: 'assistant', content: shownTrace === '' ? '(no trace)' : shownTrace },
    { role: 'user', content: complaint === undefined ? ask : `${ask}\n\n${complaintSection(complaint)}` },
  ];
  return { ...first, version: 'imagined-execution/answer@1', messages, maxTokens: ANSWER_TOKENS };
}

export interface Prediction {
  kind: 'prediction';
  /** Python expression at the mask's place. */
  prediction: string;
  /** Python expression over `__prediction__`; the test passes in imagination where it is true. */
  comparison: string;
}

const MAX_PREDICTION_CHARS = 20_000;

/**
 * The value in the completed test: the text of the tag when there is one, else the last line that begins an assert, else rejected. The
 * assert must ask the same call as the test (spacing and quotes aside). For stdio the printed text, compared without trailing space.
 */
export function readPrediction({
  reply,
  test,
  entryPoint,
}: {
  reply: ReplyLike;
  test: VisibleTest;
  entryPoint: string;
}): Prediction | Unextracted {
  if (reply.kind === 'refused') return unusable('refused', 'The reply was a refusal.');
  const answer = answerOf(reply.text);
  if (reply.kind === 'no_final_answer' || answer.unclosedThinking)
    return unusable('no_final_answer', 'The reply held reasoning and no final answer.');
  if (answer.text.trim() === '') return unusable('empty', 'The reply was empty.');
  if (test.kind === 'stdio') return readOutput(answer.text, test.stdout, reply.kind === 'truncated');
  const asked = maskExpected({ assertSource: test.source, entryPoint });
  if (asked === undefined) return unusable('no_answer', 'The test calls no function of the program.');
  const tagged = taggedText(answer.text, 'test_case');
  const text = withoutFences(tagged ?? answer.text);
  const completed = splitAsserts(text).at(-1);
  const value = completed === undefined ? undefined : valueIn({ completed, asked, entryPoint });
  const prediction = value ?? (tagged === undefined || completed !== undefined ? undefined : bareValue(text));
  if (prediction !== undefined && prediction.length <= MAX_PREDICTION_CHARS)
    return { kind: 'prediction', prediction, comparison: asked.comparison };
  if (reply.kind === 'truncated') return unusable('truncated', 'The reply was cut off before the completed assert.');
  return unusable(
    'no_answer',
    completed === undefined
      ? 'The reply held no completed assert.'
      : 'The completed assert is not the one that was asked for, or holds no single value.',
  );
}

function valueIn({
  completed,
  asked,
  entryPoint,
}: {
  completed: string;
  asked: { call: string; masked: string };
  entryPoint: string;
}): string | undefined {
  const answered = maskExpected({ assertSource: completed, entryPoint });
  if (answered?.expected === undefined || answered.expected.trim() === '...') return undefined;
  return spelling(answered.call) === spelling(asked.call) ? answered.expected : undefined;
}

/** A tag that holds only the value: models leave the call out now and then. */
function bareValue(text: string): string | undefined {
  const expression = text.trim();
  const { statements, hasErrors } = parsePython(expression);
  return !hasErrors && statements.length === 1 && statements[0]?.type === 'ExpressionStatement'
    ? expression
    : undefined;
}

function withoutFences(text: string): string {
  return text.replace(/^[ \t]*`{1,3}(?:python|py)?[ \t]*(?=assert\b|$)/gm, '').replace(/`{1,3}[ \t]*$/gm, '');
}

function readOutput(text: string, expected: string, truncated: boolean): Prediction | Unextracted {
  const output = taggedText(text, 'output');
  if (output === undefined)
    return truncated
      ? unusable('truncated', 'The reply was cut off.')
      : unusable('no_answer', 'The reply held no <output> element.');
  const printed = withoutFences(output).replace(/^\n/, '');
  return {
    kind: 'prediction',
    prediction: pythonString(printed),
    comparison: `[l.rstrip() for l in __prediction__.rstrip().splitlines()] == [l.rstrip() for l in ${pythonString(expected)}.rstrip().splitlines()]`,
  };
}

/** A Python string literal; JSON's escapes are Python's, but for the halves of surrogate pairs, which stay unescaped. */
function pythonString(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

function unusable(reason: Unextracted['reason'], detail: string): Unextracted {
  return { kind: 'unusable', reason, detail };
}
