import type { Prompt } from '../models/model.ts';
import type { Problem } from '../problems/problem.ts';
import { type Extracted, extractProgram, type Unextracted } from './extract-program.ts';
import {
  chatPrompt,
  complaintSection,
  programForm,
  pythonFence,
  statementSection,
  testsSection,
  wanted,
} from './prompt-parts.ts';
import type { ReplyLike } from './reply-text.ts';
import { stopWords } from './stop-words.ts';

/** Diversified prompting (App. A): prompt 0 is the plain zero-shot one, the others ask for a different way of working. */
export const GENERATOR_PROMPTS = 6;

const SYSTEM = 'You write correct, complete Python 3 programs.';
const MAX_TOKENS = 512;

interface Method {
  version: string;
  /** Before the problem. */
  task: (what: string) => string;
  testsTitle: string;
  /** After it. */
  method: string | undefined;
}

const METHODS: readonly Method[] = [
  {
    version: '1',
    task: (what) => `Write ${what} for the problem below.`,
    testsTitle: 'It must pass these tests:',
    method: undefined,
  },
  {
    version: '1',
    task: (what) => `Plan, then write ${what} for the problem below.`,
    testsTitle: 'It must pass these tests:',
    method:
      'First write a plan of three to five short numbered steps: what comes in, what is computed, what goes out. Then turn each step into code.',
  },
  {
    version: '1',
    task: (what) => `Write ${what} for the problem below so that no valid input breaks it.`,
    testsTitle: 'Tests it must pass:',
    method:
      'First list in a few words each the inputs most likely to go wrong (empty, a single element, zero, negative, repeated, very large) and what the right result is for them according to the problem. Then write code that treats all of them correctly.',
  },
  {
    version: '1',
    task: (what) => `Learn from examples how ${what} must behave, then write it.`,
    testsTitle: 'Worked examples:',
    method:
      'Take one or two examples and explain, in one or two sentences each, how the result follows from the input. State the general rule in one sentence. Then write code that follows that rule for every input.',
  },
  {
    version: '1',
    task: (what) => `Write the simplest version of ${what} that is certainly right.`,
    testsTitle: 'Check it against these tests:',
    method:
      'Prefer the most direct method, even a brute-force one, over a clever or fast one. Think it through in at most four sentences, run one of the tests through it in your head, and correct it if the result differs.',
  },
  {
    version: '1',
    task: (what) => `Start from the tests and write ${what} so that it fulfils them.`,
    testsTitle: 'The tests that define success:',
    method:
      'First note what the tests say that the text does not: types of arguments and result, order, rounding, what is returned when there is no answer. Then write code that agrees with both the text and the tests.',
  },
];

export interface GeneratorInput {
  problem: Problem;
  /** 0 to 5. */
  prompt: number;
  /** The Clarifier's reading of the statement. */
  clarification?: string | undefined;
  /** An earlier program: a different implementation is wanted. */
  avoid?: string | undefined;
  complaint?: string | undefined;
  api: 'chat' | 'completions';
}

/** Throws a RangeError for a prompt number that does not exist. */
export function generatorPrompt({ problem, prompt, clarification, avoid, complaint, api }: GeneratorInput): Prompt {
  const method = METHODS[prompt];
  if (method === undefined)
    throw new RangeError(`generator prompt ${prompt} does not exist; there are ${GENERATOR_PROMPTS}`);
  const version = `generator/${prompt}@${method.version}`;
  if (api === 'completions' && prompt === 0 && clarification === undefined && avoid === undefined)
    return bareStatement(problem, complaint);
  return chatPrompt({
    agent: 'generator',
    version,
    system: SYSTEM,
    sections: [
      method.task(wanted(problem)),
      statementSection(problem),
      testsSection(problem, method.testsTitle),
      clarification === undefined ? undefined : `Clarification of the problem:\n${clarification}`,
      avoid === undefined
        ? undefined
        : `This earlier program was not accepted. Write a different implementation, with another approach:\n${pythonFence(avoid)}`,
      method.method,
      programForm(problem),
    ],
    complaint,
    maxTokens: MAX_TOKENS,
  });
}

/** What a base model continues: HumanEval's prompt byte by byte; a description as a docstring with its tests before the code (MBPP). */
function bareStatement(problem: Problem, complaint: string | undefined): Prompt {
  const tests = problem.visibleTests.flatMap((test) =>
    test.kind === 'assert' ? [test.source] : [`Input:\n${test.stdin}\nOutput:\n${test.stdout}`],
  );
  const docstring = `"""\n${[problem.statement, ...tests].join('\n')}\n"""\n`;
  const content = problem.form === 'completion' ? problem.statement : docstring;
  return {
    version: 'generator/0-completion@1',
    agent: 'generator',
    messages: [
      {
        role: 'user',
        content:
          complaint === undefined ? content : `# ${complaintSection(complaint).replaceAll('\n', ' ')}\n${content}`,
      },
    ],
    temperature: 0,
    maxTokens: MAX_TOKENS,
    stop: stopWords(problem).sent,
  };
}

export function readProgram(input: {
  reply: ReplyLike;
  problem: Problem;
  api: 'chat' | 'completions';
}): Extracted | Unextracted {
  return extractProgram(input);
}
