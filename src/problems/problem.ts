/**
 * What a strategy, an agent and a model may know of a task. Hidden tests are a type of their own (`hidden-tests.ts`);
 * nothing reachable from here holds them.
 */
export interface Problem {
  /** Canonical id: `HumanEval/3`, `MBPP/11`, `mini/word-count`, or the id of an own JSONL line. */
  taskId: string;
  /** `function`: the program defines `entryPoint`. `stdio`: it reads standard input and prints. */
  kind: 'function' | 'stdio';
  /** Name of the function to write; empty for `stdio`. */
  entryPoint: string;
  /**
   * `completion`: `statement` is Python source that ends in the signature and docstring of the entry point (HumanEval).
   * `description`: `statement` is prose (MBPP).
   */
  form: 'completion' | 'description';
  statement: string;
  /** Imports and helper definitions that stand before the entry point in a `completion` statement; prepended to programs that lack them. */
  preamble: string;
  /** In the benchmark's order. May be empty (four HumanEval tasks have no usable example). */
  visibleTests: VisibleTest[];
}

/** One example the model may see. `source` is one Python `assert` statement that calls the entry point by its own name. */
export type VisibleTest = { kind: 'assert'; source: string } | { kind: 'stdio'; stdin: string; stdout: string };

/** Names a benchmark in a spec; anything else is a path to an own JSONL file. */
export const BENCHMARKS = ['humaneval', 'humaneval+', 'mbpp', 'mbpp-sanitized', 'mbpp+', 'mini'] as const;
export type BenchmarkName = (typeof BENCHMARKS)[number];
