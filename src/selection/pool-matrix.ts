import type { VisibleTest } from '../problems/problem.ts';
import { bitAt, packRows } from './bit-matrix.ts';
import { passMatrix } from './pass-matrix.ts';
import { staticFault } from './prefilter.ts';
import type { MatrixFile } from './read-matrix.ts';
import { testsThatCanRun } from './tests-that-can-run.ts';

/** A distinct test, and how often it was written. */
export interface CountedTest {
  test: VisibleTest;
  count: number;
}

/** Equal tests as one, in order of first appearance. */
export function countTests(tests: readonly VisibleTest[]): CountedTest[] {
  const counted = new Map<string, CountedTest>();
  for (const test of tests) {
    const known = counted.get(testText(test));
    if (known === undefined) counted.set(testText(test), { test, count: 1 });
    else known.count++;
  }
  return [...counted.values()];
}

/** What a test is called in a matrix. */
export function testText(test: VisibleTest): string {
  return test.kind === 'assert' ? test.source : JSON.stringify({ stdin: test.stdin, stdout: test.stdout });
}

/** Those that some program could pass: see `testsThatCanRun`. */
export function usableTests(input: {
  tests: readonly CountedTest[];
  setup: string;
  programs: readonly string[];
}): CountedTest[] {
  const sources = input.tests.flatMap(({ test }) => (test.kind === 'assert' ? [test.source] : []));
  const { setup } = input;
  const able = new Set(testsThatCanRun({ tests: sources, setup, programs: [...new Set(input.programs)] }));
  return input.tests.filter(({ test }) => test.kind !== 'assert' || able.has(test.source));
}

/** The pass matrix of programs that were run, a row each, with all that a method may look at. Tests that proved invalid are left out. */
export function poolMatrix(input: {
  problem: { taskId: string; kind: 'function' | 'stdio'; entryPoint: string; statement: string };
  programs: readonly string[];
  tests: readonly CountedTest[];
  /** By program: of every test, and numbers of equal outputs. */
  statuses: readonly (readonly string[])[];
  outputs: readonly Int32Array[];
}): MatrixFile {
  const { problem, programs, tests, statuses } = input;
  const usable = tests.flatMap((_, test) => (statuses[0]?.[test] === 'invalid_test' ? [] : [test]));
  const kept = usable.flatMap((test) => tests[test] ?? []);
  const texts = [...new Set(programs)];
  const numbers = new Map(texts.map((source, at) => [source, at]));
  const { entryPoint, statement } = problem;
  const faults = new Map(
    texts.map((source) => [source, problem.kind === 'stdio' ? null : staticFault({ source, entryPoint, statement })]),
  );
  return {
    taskId: problem.taskId,
    matrix: passMatrix(packRows(programs.map((_, row) => usable.map((test) => statuses[row]?.[test] === 'pass'))), {
      columns: kept.map(({ count }) => count),
    }),
    outputs: {
      values: [...input.outputs],
      textOf: Int32Array.from(programs, (source) => numbers.get(source) ?? 0),
    },
    faults: programs.map((source) => faults.get(source) ?? null),
    programs: [...programs],
    tests: kept.map(({ test }) => testText(test)),
  };
}

/** What `readMatrix` reads again. */
export function matrixLine({ taskId, matrix, outputs, correct, faults, programs, tests }: MatrixFile): object {
  const { bits, columnCounts } = matrix;
  return {
    ...(taskId !== undefined && { task_id: taskId }),
    matrix: Array.from({ length: bits.rows }, (_, row) =>
      Array.from({ length: bits.columns }, (_cell, column) => bitAt(bits, row, column)),
    ),
    testWeights: [...columnCounts],
    ...(outputs && {
      outputs: outputs.values.map((values) => Array.from(values, (value) => (value < 0 ? null : value))),
    }),
    ...(correct && { correct: correct.map(Number) }),
    ...(faults && { staticFaults: faults }),
    ...(programs && { programs }),
    ...(tests && { tests }),
  };
}
