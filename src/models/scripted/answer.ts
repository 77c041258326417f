import type { AgentName } from '../../agents/roles.ts';
import { agentOf, exampleOf, type KnownTask, programOf, showsTest, taskOf } from './recognise.ts';
import type { ScriptedTest } from './script/problem-script.ts';

/** What tells the generator's and the self-debugger's prompts apart, by index; the one without such words is prompt 0. */
export const GENERATOR_MARKS = [
  undefined,
  'Plan, then write',
  'so that no valid input breaks it',
  'Learn from examples how',
  'Write the simplest version of',
  'Start from the tests',
];
export const DEBUGGER_MARKS = [
  undefined,
  'Explain in one short sentence for each part',
  'Name two or three possible causes',
];

/**
 * The scripted model's text for a conversation: for a bundled problem what its script says, for anything else some valid answer in the
 * form that the agent's reader takes. Depends on the messages and the number of the draw alone: from 1 on, the generator's first prompt is answered
 * by the problem's programs in turn.
 */
export function answerTo(messages: readonly { role: string; content: string }[], draw = 0): string {
  const text = messages.map(({ content }) => content).join('\n\n');
  const last = messages.at(-1)?.content ?? '';
  const agent = agentOf(text);
  const task = taskOf(text);
  return task === undefined ? generic(agent, text, last) : scripted(agent, task, { text, last, draw });
}

function scripted(
  agent: AgentName | undefined,
  task: KnownTask,
  { text, last, draw }: { text: string; last: string; draw: number },
): string {
  switch (agent) {
    case 'generator':
      return programReply(generated(task, text, draw), task);
    case 'imaginedExecution':
      return imagined(task, text, last);
    case 'critic':
      return verdict(programOf(text, task) === 'canonical', 'The program was read against the statement.');
    case 'testDesigner':
      return testsReply([...task.script.tests.kept, ...task.script.tests.dropped]);
    case 'testJudge':
      return judged(task, text);
    case 'selfDebugger': {
      const program = programOf(text, task);
      const revised = atOrLast(task.script.debugged ?? [], markIndex(text, DEBUGGER_MARKS)) ?? program ?? 'canonical';
      return programReply(
        task.programs.get(revised) ?? task.canonical,
        task,
        'The failing tests point at one rule that the program gets wrong; here is the revision.',
      );
    }
    case 'clarifier':
      return clarified(task, text);
    case undefined:
      return continuation(task, text, draw);
  }
}

function generated(task: KnownTask, text: string, draw: number): string {
  const { clarified: clarifications = [], generated: byPrompt } = task.script;
  const clarification = clarifications.findLast(({ statement }) => text.includes(statement));
  const prompt = markIndex(text, GENERATOR_MARKS);
  const drawn = draw > 0 && prompt === 0 ? [...task.programs.keys()][draw % task.programs.size] : undefined;
  const name = clarification?.program ?? drawn ?? atOrLast(byPrompt, prompt) ?? 'canonical';
  return task.programs.get(name) ?? task.canonical;
}

function programReply(
  code: string,
  task: KnownTask,
  thought = 'The statement and its examples say what is needed.',
): string {
  const what = task.kind === 'stdio' ? 'The program' : `The function ${task.entryPoint}`;
  return `${thought} ${what}:\n\n\`\`\`python\n${code}\`\`\`\n`;
}

/** The first turn traces, the second completes the test; both say the same value. */
function imagined(task: KnownTask, text: string, last: string): string {
  const index = exampleOf(questionIn(last) ?? questionIn(text) ?? text, task.examples);
  const program = programOf(text, task);
  const values = program === undefined ? undefined : task.script.imagined?.[program];
  const expected = index === undefined ? undefined : task.examples[index]?.expected;
  // A program that nobody wrote here is not vouched for.
  const value =
    program === undefined ? 'None' : ((index === undefined ? undefined : values?.[index]) ?? expected ?? 'None');
  return imaginedReply(value, last);
}

/** The masked assert of a second turn, else the call or the input of the first. */
function questionIn(message: string): string | undefined {
  return maskedAssert(message) ?? /<(function_call|input)>\n([\s\S]*?)<\/\1>/.exec(message)?.[2];
}

function maskedAssert(message: string): string | undefined {
  return message.split('\n').find((line) => line.startsWith('assert ') && line.includes('?'));
}

function imaginedReply(value: string, last: string): string {
  if (last.includes('</output>')) return `<output>\n${value}${value.endsWith('\n') ? '' : '\n'}</output>\n`;
  if (!last.includes('</test_case>'))
    return `The program runs from its first line to its last. What comes out: ${value}\n`;
  const masked = maskedAssert(last);
  const mark = masked?.lastIndexOf('?') ?? -1;
  const completed = masked === undefined || mark < 0 ? value : masked.slice(0, mark) + value + masked.slice(mark + 1);
  return `<test_case>\n${completed}\n</test_case>\n`;
}

function judged(task: KnownTask, text: string): string {
  const { kept, dropped } = task.script.tests;
  // The test to judge comes after examples that may look like it.
  const question = text.slice(Math.max(0, text.lastIndexOf('Test to judge')));
  const known = [...kept, ...dropped].filter((test) => showsTest(question, test));
  const right = known.length === 0 || known.some((test) => kept.includes(test));
  return verdict(
    right,
    right
      ? 'The statement leads to the value in the test.'
      : 'The statement leads to another value than the one in the test.',
  );
}

function verdict(yes: boolean, reason: string): string {
  return `${reason}\nVerdict: ${yes ? 'correct' : 'incorrect'}\n`;
}

function clarified(task: KnownTask, text: string): string {
  const { clarified: all = [] } = task.script;
  const tried = all.filter(({ statement }) => text.includes(statement)).length;
  const statement =
    atOrLast(all, tried)?.statement ??
    'Do what the statement says for every input, and exactly what its examples show.';
  return `The examples support one reading.\n<clarification>\n${statement}\n</clarification>\n`;
}

function testsReply(tests: readonly ScriptedTest[]): string {
  const asserts = tests.filter((test) => typeof test === 'string');
  const runs = tests.filter((test) => typeof test !== 'string');
  const blocks = runs.map(
    ({ stdin, stdout }) => `<test>\n<input>\n${stdin}</input>\n<output>\n${stdout}</output>\n</test>`,
  );
  return `${[...(asserts.length > 0 ? [`\`\`\`python\n${asserts.join('\n')}\n\`\`\``] : []), ...blocks].join('\n')}\n`;
}

/** A base model goes on where the prompt ends: after the docstring of the function, or after the task's description. */
function continuation(task: KnownTask, text: string, draw: number): string {
  const code = generated(task, text, draw);
  if (task.form === 'description' || !text.trimEnd().endsWith('"""')) return code;
  const signature = code.indexOf(':\n', code.indexOf(`def ${task.entryPoint}(`));
  return signature < 0 ? code : code.slice(signature + 2);
}

/** Valid answers about problems without a script. */
function generic(agent: AgentName | undefined, text: string, last: string): string {
  const name =
    /\bdef ([A-Za-z_]\w*)\s*\(/.exec(text)?.[1] ?? /\bfunction `?([A-Za-z_]\w*)/.exec(text)?.[1] ?? 'solution';
  switch (agent) {
    case 'generator':
    case 'selfDebugger':
      return `A first version:\n\n\`\`\`python\ndef ${name}(*arguments):\n    return arguments[0] if arguments else None\n\`\`\`\n`;
    case 'imaginedExecution':
      return imaginedReply('None', last);
    case 'critic':
    case 'testJudge':
      return verdict(false, 'Nothing speaks for it.');
    case 'testDesigner':
      return `\`\`\`python\nassert ${/assert ([A-Za-z_]\w*)\(/.exec(text)?.[1] ?? name}(0) == 0\n\`\`\`\n`;
    case 'clarifier':
      return '<clarification>\nDo what the statement says for every input, and exactly what its examples show.\n</clarification>\n';
    case undefined:
      return '    return None\n';
  }
}

/** Index of the mark that the text holds; 0 without one. */
function markIndex(text: string, marks: readonly (string | undefined)[]): number {
  return Math.max(
    0,
    marks.findIndex((mark) => mark !== undefined && text.includes(mark)),
  );
}

function atOrLast<T>(list: readonly T[], index: number): T | undefined {
  return list[Math.min(index, list.length - 1)];
}
