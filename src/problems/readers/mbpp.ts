import { type Fields, lineEntries } from '../entries.ts';
import type { HiddenTests } from '../hidden-tests.ts';
import type { Problem } from '../problem.ts';
import { ProblemFileError } from '../problem-file-error.ts';
import { definedFunctions, parseAssert, pythonSource } from '../python-source.ts';
import type { Reader, TaskRecord } from '../task-record.ts';

/** The test split of Austin et al. 2021: task ids 11 to 510. */
const TEST_SPLIT = { first: 11, last: 510 };

/** MBPP (google-research): all asserts of `test_list` are visible and are the evaluation tests too; challenge tests are not used. */
export const mbpp: Reader = {
  entries: lineEntries,
  size: 500,
  read(fields) {
    const number = fields.wholeNumber('task_id');
    const record = readMbpp({ fields, number, statement: fields.text('text'), setup: fields.text('test_setup_code') });
    return number >= TEST_SPLIT.first && number <= TEST_SPLIT.last ? record : undefined;
  },
};

/** Python source comes out with `\n` line ends: the original has `\r\n` in programs, tests and set-up code. */
export function readMbpp(input: { fields: Fields; number: number; statement: string; setup: string }): TaskRecord {
  const { fields, statement } = input;
  const taskId = `MBPP/${input.number}`;
  const setup = pythonSource(input.setup);
  const canonical = pythonSource(fields.text('code'));
  const asserts = fields.textList('test_list').map((text) => pythonSource(text).trim());
  const entryPoint = entryPointOf({ asserts, canonical, where: fields.where });
  return {
    taskId,
    where: fields.where,
    problem: () => describedProblem({ taskId, statement, entryPoint, asserts }),
    hidden: (): HiddenTests => ({ kind: 'asserts', setup, asserts: [...asserts], canonical }),
  };
}

export function describedProblem(input: {
  taskId: string;
  statement: string;
  entryPoint: string;
  asserts: string[];
}): Problem {
  const { taskId, statement, entryPoint, asserts } = input;
  const visibleTests = asserts.map((source) => ({ kind: 'assert' as const, source }));
  return { taskId, kind: 'function', entryPoint, form: 'description', statement, preamble: '', visibleTests };
}

/**
 * MBPP does not name the function to write: it is the first one called by the first assert that the reference program defines. That
 * passes over `set(…)` and `int(…)` around the call, and still finds a task whose function has a builtin's name.
 */
function entryPointOf({ asserts, canonical, where }: { asserts: string[]; canonical: string; where: string }): string {
  const defined = definedFunctions(canonical);
  const called = parseAssert(asserts[0] ?? '')?.calls.map((call) => call.name) ?? [];
  const entryPoint = called.find((name) => defined.has(name));
  if (entryPoint !== undefined) return entryPoint;
  throw new ProblemFileError(
    `${where}: the first test calls no function of the reference program.`,
    'Correct that record, or fetch the file again.',
  );
}
