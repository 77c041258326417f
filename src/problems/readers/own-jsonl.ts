import { checkTaskId, Fields, lineEntries } from '../entries.ts';
import type { HiddenTests } from '../hidden-tests.ts';
import type { Problem, VisibleTest } from '../problem.ts';
import { ProblemFileError } from '../problem-file-error.ts';
import { findFunction, pythonSource } from '../python-source.ts';
import { didYouMean } from '../suggest.ts';
import type { Reader, TaskRecord } from '../task-record.ts';
import { completionProblem } from './humaneval.ts';
import { describedProblem } from './mbpp.ts';

const KEYS = [
  'task_id',
  'kind',
  'entry_point',
  'form',
  'prompt',
  'visible_tests',
  'hidden_tests',
  'setup',
  'canonical_solution',
];

/** The project's own schema, documented in `docs/problems.md`. */
export const ownJsonl: Reader = {
  entries: lineEntries,
  size: undefined,
  read(fields) {
    for (const key of fields.keys()) {
      if (KEYS.includes(key)) continue;
      throw new ProblemFileError(
        `${fields.where}: unknown key ${JSON.stringify(key)}.`,
        didYouMean(key, KEYS, `Allowed are ${KEYS.join(', ')}.`),
      );
    }
    const kind = choice(fields, 'kind', ['function', 'stdio'], 'function');
    return kind === 'stdio' ? readStdio(fields) : readFunction(fields);
  },
};

function readFunction(fields: Fields): TaskRecord {
  const taskId = checkTaskId(fields.text('task_id'), fields.where);
  const entryPoint = fields.identifier('entry_point');
  const form = choice(fields, 'form', ['completion', 'description'], 'description');
  const statement = fields.text('prompt');
  if (form === 'completion' && findFunction(statement, entryPoint) === undefined) {
    throw broken(fields, `the prompt of a completion must define ${entryPoint}`);
  }
  const visible = fields.has('visible_tests') ? fields.textList('visible_tests').map(pythonSource) : undefined;
  const asserts = fields.textList('hidden_tests').map(pythonSource);
  if (asserts.length === 0) throw noHiddenTests(fields);
  const setup = pythonSource(optionalText(fields, 'setup'));
  const canonical = pythonSource(optionalText(fields, 'canonical_solution'));
  return {
    taskId,
    where: fields.where,
    problem(): Problem {
      if (form === 'description') return describedProblem({ taskId, statement, entryPoint, asserts: visible ?? [] });
      const problem = completionProblem({ taskId, prompt: statement, entryPoint });
      return visible === undefined
        ? problem
        : { ...problem, visibleTests: visible.map((source) => ({ kind: 'assert', source })) };
    },
    hidden: (): HiddenTests => ({ kind: 'asserts', setup, asserts: [...asserts], canonical }),
  };
}

function readStdio(fields: Fields): TaskRecord {
  const taskId = checkTaskId(fields.text('task_id'), fields.where);
  if (optionalText(fields, 'entry_point') !== '') throw broken(fields, 'a stdio task has no "entry_point"');
  if (choice(fields, 'form', ['description'], 'description') !== 'description')
    throw broken(fields, 'a stdio task is a description');
  if (fields.has('setup')) throw broken(fields, 'a stdio task has no "setup"');
  const statement = fields.text('prompt');
  const visible = fields.has('visible_tests') ? stdioCases(fields, 'visible_tests') : [];
  const cases = stdioCases(fields, 'hidden_tests');
  if (cases.length === 0) throw noHiddenTests(fields);
  const canonical = pythonSource(optionalText(fields, 'canonical_solution'));
  const visibleTests: VisibleTest[] = visible.map((example) => ({ kind: 'stdio', ...example }));
  return {
    taskId,
    where: fields.where,
    problem: () => ({
      taskId,
      kind: 'stdio',
      entryPoint: '',
      form: 'description',
      statement,
      preamble: '',
      visibleTests: [...visibleTests],
    }),
    hidden: () => ({ kind: 'stdio', cases: [...cases], canonical }),
  };
}

function stdioCases(fields: Fields, key: string): { stdin: string; stdout: string }[] {
  return fields.elements(key).map((text, index) => {
    const example = Fields.of({
      where: `${fields.where}: element ${index + 1} of ${JSON.stringify(key)}`,
      text,
      unfinished: false,
    });
    const unknown = example.keys().find((name) => name !== 'stdin' && name !== 'stdout');
    if (unknown !== undefined) throw broken(example, `unknown key ${JSON.stringify(unknown)}`);
    return { stdin: example.text('stdin'), stdout: example.text('stdout') };
  });
}

function optionalText(fields: Fields, key: string): string {
  return fields.has(key) ? fields.text(key) : '';
}

function choice<T extends string>(fields: Fields, key: string, allowed: readonly T[], otherwise: T): T {
  if (!fields.has(key)) return otherwise;
  const given = fields.text(key);
  const chosen = allowed.find((value) => value === given);
  if (chosen === undefined)
    throw broken(
      fields,
      `${JSON.stringify(key)} must be ${allowed.map((value) => JSON.stringify(value)).join(' or ')}`,
    );
  return chosen;
}

function noHiddenTests(fields: Fields): ProblemFileError {
  return broken(fields, '"hidden_tests" is empty, and zero tests can never be passed');
}

function broken(fields: Fields, what: string): ProblemFileError {
  return new ProblemFileError(`${fields.where}: ${what}.`, 'The schema stands in docs/problems.md.');
}
