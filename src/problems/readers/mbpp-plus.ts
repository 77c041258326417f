import { type Fields, lineEntries } from '../entries.ts';
import { ProblemFileError } from '../problem-file-error.ts';
import { pythonSource } from '../python-source.ts';
import type { Reader } from '../task-record.ts';
import { describedProblem } from './mbpp.ts';

/** MBPP+ v0.2.0 (evalplus/mbppplus_release): the asserts of `assertion` (the base tests) are visible, the plus inputs hidden. */
export const mbppPlus: Reader = {
  entries: lineEntries,
  size: 378,
  read(fields) {
    const evalPlusId = fields.text('task_id');
    const number = /^Mbpp\/(\d+)$/.exec(evalPlusId)?.[1];
    if (number === undefined) throw broken(fields, `${JSON.stringify(evalPlusId)} is no MBPP+ id`);
    const taskId = `MBPP/${number}`;
    const prompt = fields.text('prompt');
    const statement = statementOf(prompt, fields);
    const entryPoint = fields.identifier('entry_point');
    const asserts = pythonSource(fields.text('assertion'))
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.startsWith('assert'));
    const canonical = pythonSource(prompt + fields.text('canonical_solution'));
    const contract = fields.text('contract');
    const baseInputs = fields.rawList('base_input');
    // The release writes "no plus inputs" as {} (Mbpp/793).
    const plusInputs = fields.raw('plus_input') === '{}' ? '[]' : fields.rawList('plus_input');
    const atol = fields.raw('atol');
    return {
      taskId,
      where: fields.where,
      problem: () => describedProblem({ taskId, statement, entryPoint, asserts }),
      hidden: () => ({
        kind: 'evalplus',
        dataset: 'mbpp+',
        taskId: evalPlusId,
        baseInputs,
        plusInputs,
        atol,
        contract,
        canonical,
      }),
    };
  },
};

/** EvalPlus wraps the text and one of the asserts in a docstring; the statement is the text alone. */
function statementOf(prompt: string, fields: Fields): string {
  const text = /^"""\n([\s\S]*?)\s*\nassert [^\n]*\n"""\s*$/.exec(prompt)?.[1];
  if (text === undefined) throw broken(fields, 'the prompt is not a docstring of a text and one assert');
  return text;
}

function broken(fields: Fields, what: string): ProblemFileError {
  return new ProblemFileError(`${fields.where}: ${what}.`, 'Use EvalPlus’s release v0.2.0.');
}
