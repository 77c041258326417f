import { type MiniTask, readMini } from '../../problems/mini/mini.ts';

/** One visible test of a bundled problem as the script needs it: what is asked, and what is expected. */
export interface Example {
  /** The call (`f(1, 2)`), or what stands on standard input. */
  asked: string;
  /** The expected value as Python text, or what must be printed. */
  expected: string;
}

export interface BundledTask {
  taskId: string;
  kind: 'function' | 'stdio';
  form: 'completion' | 'description';
  entryPoint: string;
  statement: string;
  canonical: string;
  examples: Example[];
}

/** The bundled problems as the scripted model knows them: without hidden tests. */
export function bundledTasks(): BundledTask[] {
  return readMini().map((task) => ({
    taskId: task.task_id,
    kind: task.kind,
    form: task.form,
    entryPoint: task.entry_point,
    statement: task.prompt,
    canonical: task.canonical_solution,
    examples:
      task.visible_tests === undefined
        ? docstringExamples(task.prompt)
        : task.visible_tests.map((test) => exampleOf(test, task)),
  }));
}

/** In the bundled docstrings every example is one line of call and one line of value. */
function docstringExamples(prompt: string): Example[] {
  return [...prompt.matchAll(/^ *>>> (.+)\n *(.+)$/gm)].map(([, asked = '', expected = '']) => ({ asked, expected }));
}

/** The bundled asserts have two shapes: `CALL == VALUE` and `math.isclose(CALL, VALUE, rel_tol=…)`. */
function exampleOf(test: string | { stdin: string; stdout: string }, task: MiniTask): Example {
  if (typeof test !== 'string') return { asked: test.stdin, expected: test.stdout };
  const close = /^assert math\.isclose\((.+\)), (.+), rel_tol=\S+\)$/.exec(test);
  const equal = close ?? /^assert (.+) == (.+)$/.exec(test);
  if (equal === null) throw new Error(`${task.task_id}: a visible test has neither of the two shapes: ${test}`);
  return { asked: equal[1] ?? '', expected: equal[2] ?? '' };
}
