import { lineEntries } from '../entries.ts';
import type { Reader } from '../task-record.ts';
import { readPrompt } from './humaneval.ts';

/** HumanEval+ v0.1.10 (evalplus/humanevalplus_release); inputs and tolerance stay raw JSON text. */
export const humanevalPlus: Reader = {
  entries: lineEntries,
  size: 164,
  read(fields) {
    const { taskId, prompt, problem } = readPrompt(fields);
    const canonical = prompt + fields.text('canonical_solution');
    const contract = fields.text('contract');
    const baseInputs = fields.rawList('base_input');
    const plusInputs = fields.rawList('plus_input');
    const atol = fields.raw('atol');
    return {
      taskId,
      where: fields.where,
      problem,
      hidden: () => ({
        kind: 'evalplus',
        dataset: 'humaneval+',
        taskId,
        baseInputs,
        plusInputs,
        atol,
        contract,
        canonical,
      }),
    };
  },
};
