import type { TestResult } from '../grading/verdict.ts';
import type { Prompt } from '../models/model.ts';
import type { Problem } from '../problems/problem.ts';
import { chatPrompt, failuresSection, programForm, pythonFence, statementSection } from './prompt-parts.ts';

/** One prompt an epoch (App. A); a restart with the same prompt at temperature 0 would change nothing. */
export const DEBUG_PROMPTS = 3;

const METHODS = [
  'Take the first failing test. Follow the program through it in a few short lines until the first wrong value appears, and name the line that makes it. Then revise the program so that this line, and whatever depends on it, is right.',
  'Explain in one short sentence for each part of the program what it does, and beside it what the problem asks for. Say where the two part ways and how that explains the failing tests. Then revise those parts and leave the rest as it is.',
  'Name two or three possible causes of the failures. Decide for each, from the actual results above, whether it explains all of them. Then revise the program to remove the cause that does.',
];

/**
 * Asks for a diagnosis first and a revision after it, not for a new program (§3.3). Shows at most eight failing tests with actual result or
 * exception. `prompt` is 0 to 2; the reply is read by the generator's `readProgram`.
 */
export function selfDebuggerPrompt({
  problem,
  code,
  results,
  prompt,
  complaint,
}: {
  problem: Problem;
  code: string;
  results: TestResult[];
  prompt: number;
  complaint?: string | undefined;
}): Prompt {
  const method = METHODS[prompt];
  if (method === undefined) throw new RangeError(`debug prompt ${prompt} does not exist; there are ${DEBUG_PROMPTS}`);
  const passed = results.filter((result) => result.status === 'pass').length;
  return chatPrompt({
    agent: 'selfDebugger',
    version: `self-debugger/${prompt}@1`,
    system: 'You find the cause of a failure first and then repair it.',
    sections: [
      statementSection(problem),
      `Program to debug:\n${pythonFence(code)}`,
      failuresSection(results, `It was run on ${results.length} tests and passed ${passed}. It failed these:`),
      'A test may itself be wrong; where a test contradicts the problem, follow the problem.',
      method,
      `Think briefly first. ${programForm(problem)}`,
    ],
    complaint,
    maxTokens: 700,
  });
}
