import type { TestResult } from '../grading/verdict.ts';
import type { ChatMessage, Prompt } from '../models/model.ts';
import type { Problem, VisibleTest } from '../problems/problem.ts';
import { type AgentName, ROLES } from './roles.ts';

/** Failing tests shown to an agent, and characters of one value in them: evidence stays well below a thousand tokens. */
const MAX_RESULTS = 8;
const MAX_VALUE_CHARS = 240;
const MAX_COMPLAINT_CHARS = 300;

/** A prompt of one system and one user message; sections are set apart by an empty line, and a complaint about the last reply ends it. */
export function chatPrompt(parts: {
  agent: AgentName;
  version: string;
  system: string;
  sections: (string | undefined)[];
  complaint?: string | undefined;
  maxTokens: number;
  temperature?: number | undefined;
}): Prompt {
  const sections = parts.sections.filter((section) => section !== undefined);
  if (parts.complaint !== undefined && parts.complaint !== '') sections.push(complaintSection(parts.complaint));
  return {
    version: parts.version,
    agent: parts.agent,
    messages: [
      { role: 'system', content: `${ROLES[parts.agent]} ${parts.system}` },
      { role: 'user', content: sections.join('\n\n') },
    ],
    temperature: parts.temperature ?? 0,
    maxTokens: parts.maxTokens,
  };
}

export function complaintSection(complaint: string): string {
  return `Note: your previous reply could not be used. ${shown(complaint, MAX_COMPLAINT_CHARS)} Follow the requested form exactly.`;
}

/** `completions` endpoints take one text; a conversation becomes one, with the answer to follow. */
export function asCompletion(prompt: Prompt): Prompt {
  if (prompt.messages.length <= 1) return prompt;
  const speaker: Record<ChatMessage['role'], string> = { system: '', user: '### Task\n', assistant: '### Answer\n' };
  const content = `${prompt.messages.map((message) => `${speaker[message.role]}${message.content}`).join('\n\n')}\n\n### Answer\n`;
  return { ...prompt, messages: [{ role: 'user', content }], stop: ['### Task'] };
}

/** The code verbatim in a fence longer than any run of backticks in it. */
export function pythonFence(code: string): string {
  return fence('python', code);
}

function fence(language: string, text: string): string {
  const longest = text.match(/`+/g)?.reduce((length, run) => Math.max(length, run.length), 0) ?? 0;
  const mark = '`'.repeat(Math.max(3, longest + 1));
  return `${mark}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${mark}`;
}

/** The statement verbatim: a completion statement as code, prose as prose. */
export function statementSection(problem: Problem): string {
  return problem.form === 'completion'
    ? `Problem:\n${pythonFence(problem.statement)}`
    : `Problem:\n${problem.statement}`;
}

/** The visible tests verbatim, or nothing. */
export function testsSection(problem: Problem, title = 'It must pass these tests:'): string | undefined {
  return problem.visibleTests.length === 0 ? undefined : `${title}\n${testList(problem.visibleTests)}`;
}

export function testList(tests: VisibleTest[]): string {
  const asserts = tests.flatMap((test) => (test.kind === 'assert' ? [test.source] : []));
  const runs = tests.flatMap((test) =>
    test.kind === 'stdio'
      ? [`<test>\n<input>\n${closed(test.stdin)}</input>\n<output>\n${closed(test.stdout)}</output>\n</test>`]
      : [],
  );
  return [...(asserts.length > 0 ? [pythonFence(asserts.join('\n'))] : []), ...runs].join('\n');
}

function closed(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** The tests that did not pass, with what was expected and what came; bounded. */
export function failuresSection(results: TestResult[], title: string): string | undefined {
  const failing = results.filter(
    (result) => result.status !== 'pass' && result.status !== 'invalid_test' && result.status !== 'not_run',
  );
  if (failing.length === 0) return undefined;
  const rows = failing
    .slice(0, MAX_RESULTS)
    .map((result, index) => `${index + 1}. ${shown(result.test)}\n   ${happened(result)}${printedBy(result)}`);
  const more = failing.length > MAX_RESULTS ? `\n(${failing.length - MAX_RESULTS} more tests failed.)` : '';
  return `${title}\n${rows.join('\n')}${more}`;
}

function printedBy({ printed }: TestResult): string {
  return printed === undefined ? '' : `\n   it printed: ${shown(printed.trimEnd())}`;
}

function happened(result: TestResult): string {
  if (result.exception !== undefined) return `raised ${shown(result.exception)}`;
  if (result.status === 'timeout') return 'did not end in time';
  if (result.status === 'memory_limit') return 'used too much memory';
  if (result.status === 'output_limit') return 'produced too much output';
  const actual = result.actual === undefined ? 'the assertion is false' : `actual result: ${shown(result.actual)}`;
  return result.expected === undefined ? actual : `${actual}; the test expects: ${shown(result.expected)}`;
}

/** Text of a program's making, bounded and without control characters. */
export function shown(text: string, maxChars = MAX_VALUE_CHARS): string {
  const head = text
    .slice(0, maxChars * 2)
    .toWellFormed()
    .replace(/\p{Cc}/gu, (char) => (char === '\n' || char === '\t' ? char : '\uFFFD'));
  return head.length <= maxChars
    ? head
    : `${head.slice(0, Math.ceil(maxChars * 0.6))} … ${head.slice(maxChars - Math.floor(maxChars * 0.4), maxChars)}`;
}

/** What the answer must look like when it is a program. */
export function programForm(problem: Problem): string {
  if (problem.kind === 'stdio')
    return 'Give the final program as one ```python code block. It reads standard input and prints the answer, nothing else.';
  return `Give the final program as one \`\`\`python code block that defines ${problem.entryPoint} with all imports and helper functions it needs, without tests or example calls.`;
}

export function wanted(problem: Problem): string {
  return problem.kind === 'stdio'
    ? 'a Python program that reads standard input and prints the answer'
    : `the Python function ${problem.entryPoint}`;
}
