import type { Problem } from '../problems/problem.ts';
import type { PythonSource } from '../python-syntax/parse-python.ts';
import type { CodeBlock } from './code-blocks.ts';

type Inspect = (code: string) => PythonSource;

export const OTHER_LANGUAGES = new Set(
  'bash sh shell console terminal text txt plaintext output json yaml xml html css js javascript ts typescript java c cpp c++ c# csharp go rust ruby php sql diff markdown md'.split(
    ' ',
  ),
);

/** Whether a block can be the answer: it implements the entry point, or, where there is none, is Python that prints. */
export function isAnswer(block: CodeBlock, problem: Problem, inspect: Inspect): boolean {
  if (problem.kind === 'stdio') {
    return (
      !OTHER_LANGUAGES.has(block.language) &&
      /\b(?:print|write|stdout)\b/.test(block.code) &&
      (block.language !== '' || !inspect(block.code).hasErrors)
    );
  }
  return block.code.includes(problem.entryPoint) && inspect(block.code).implements.has(problem.entryPoint);
}

const READS_INPUT = /\b(?:raw_)?input[ \t]*\(|\bstdin\b(?![ \t]*=(?!=))|\bopen[ \t]*\([ \t]*0\b|\bfileinput\b/;
const FAKES_INPUT = /\bstdin[ \t]*=(?!=)/;
/** A program that brings a `test_…` function along is a program still: fixes often come so. */
const TEST_FILE = /^(?:import|from)[ \t]+(?:unittest|pytest)\b|\bunittest\.main[ \t]*\(/m;

/**
 * How much speaks against a block that could be the answer; the last one of the least weight is taken. A stub shows a signature, a
 * program that takes nothing from standard input shows how a function is used, a file of tests comes after what it tests; a broken block
 * beats only those that hold the place of a program.
 */
export function blockWeight({ code, problem, inspect }: { code: string; problem: Problem; inspect: Inspect }): number {
  const source = inspect(code);
  const isNoProgram =
    problem.kind === 'stdio'
      ? !READS_INPUT.test(code) || FAKES_INPUT.test(code)
      : source.implements.get(problem.entryPoint) !== 'body';
  return (isNoProgram ? 4 : 0) + (source.hasErrors ? 2 : 0) + (TEST_FILE.test(code) ? 1 : 0);
}
