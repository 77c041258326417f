import { docstringExamples } from '../docstring-examples.ts';
import { checkTaskId, type Fields, lineEntries } from '../entries.ts';
import type { Problem, VisibleTest } from '../problem.ts';
import { ProblemFileError } from '../problem-file-error.ts';
import { findFunction } from '../python-source.ts';
import type { Reader } from '../task-record.ts';

/** HumanEval (openai/human-eval): `prompt` + `canonical_solution` is a whole program, `test` defines `check(candidate)`. */
export const humaneval: Reader = {
  entries: lineEntries,
  size: 164,
  read(fields) {
    const { taskId, prompt, problem } = readPrompt(fields);
    const source = fields.text('test');
    const canonical = prompt + fields.text('canonical_solution');
    return { taskId, where: fields.where, problem, hidden: () => ({ kind: 'check', source, canonical }) };
  },
};

/** The public half of HumanEval and HumanEval+; the statement is the prompt, byte for byte. */
export function readPrompt(fields: Fields): { taskId: string; prompt: string; problem: () => Problem } {
  const taskId = checkTaskId(fields.text('task_id'), fields.where);
  if (!/^HumanEval\/\d+$/.test(taskId)) {
    throw new ProblemFileError(
      `${fields.where}: ${JSON.stringify(taskId)} is no HumanEval id.`,
      'Give a file of your own by its path instead.',
    );
  }
  const prompt = fields.text('prompt');
  const entryPoint = fields.identifier('entry_point');
  return { taskId, prompt, problem: () => completionProblem({ taskId, prompt, entryPoint }) };
}

/** A problem whose statement is the beginning of a program; its examples stand in the docstring. */
export function completionProblem({
  taskId,
  prompt,
  entryPoint,
}: {
  taskId: string;
  prompt: string;
  entryPoint: string;
}): Problem {
  const definition = findFunction(prompt, entryPoint);
  const before = definition === undefined ? '' : prompt.slice(0, definition.start).trim();
  let visibleTests: VisibleTest[] | undefined;
  return {
    taskId,
    kind: 'function',
    entryPoint,
    form: 'completion',
    statement: prompt,
    preamble: before === '' ? '' : `${before}\n`,
    // Parses every example: not for those who only grade.
    get visibleTests() {
      visibleTests ??= docstringExamples({ statement: prompt, entryPoint }).map((source) => ({
        kind: 'assert',
        source,
      }));
      return visibleTests;
    },
  };
}
