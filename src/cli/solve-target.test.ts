import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { openBenchmark } from '../problems/benchmark.ts';
import type { Context } from './context.ts';
import { solveTarget } from './solve-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'qualityflow-solve-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const context: Context = {
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  interactive: false,
  env: {},
  cwd: folder,
  home: join(folder, 'state'),
  onInterrupt: () => () => {},
};

test('a task is named by benchmark and id, whatever slashes the id has', async () => {
  for (const [problem, benchmark, task] of [
    ['mini/chunks', 'mini', 'chunks'],
    ['humaneval/HumanEval/3', 'humaneval', 'HumanEval/3'],
    ['mbpp+/2', 'mbpp+', '2'],
    ['data/own.jsonl/a/b', join(folder, 'data/own.jsonl'), 'a/b'],
    ['own.jsonl.gz/x', join(folder, 'own.jsonl.gz'), 'x'],
  ] as const) {
    assert.deepEqual(await solveTarget({ context, problem }), { benchmark, task, graded: true });
  }
});

test('a prompt file that ends in a signature becomes a completion with its own examples, and is never graded', async () => {
  const source = 'def add(a, b):\n    """Add.\n\n    >>> add(1, 2)\n    3\n    """\n';
  writeFileSync(join(folder, 'add.txt'), source);
  const target = await solveTarget({ context, problem: 'add.txt' });
  assert.equal(target.graded, false);
  const benchmark = await openBenchmark({ benchmark: target.benchmark, home: context.home });
  const problem = benchmark.problem(target.task);
  assert.deepEqual([problem.entryPoint, problem.form, problem.statement], ['add', 'completion', source]);
  assert.equal(problem.visibleTests.length, 1);
});

test('prose needs the name of the function; its assert lines are the visible tests', async () => {
  writeFileSync(join(folder, 'my problem.txt'), '\uFEFFWrite a function that doubles.\r\nassert double(2) == 4\r\n');
  await assert.rejects(solveTarget({ context, problem: 'my problem.txt' }), /does not say which function/);
  await assert.rejects(solveTarget({ context, problem: 'my problem.txt', entryPoint: 'a b' }), /no name of a function/);
  const target = await solveTarget({ context, problem: 'my problem.txt', entryPoint: 'double' });
  const problem = (await openBenchmark({ benchmark: target.benchmark, home: context.home })).problem(target.task);
  assert.deepEqual(
    [problem.form, problem.visibleTests],
    ['description', [{ kind: 'assert', source: 'assert double(2) == 4' }]],
  );
});

test('binary, empty and missing files are refused', async () => {
  writeFileSync(join(folder, 'binary'), Buffer.from([1, 0, 2]));
  writeFileSync(join(folder, 'blank'), ' \n');
  await assert.rejects(solveTarget({ context, problem: 'binary' }), /no prompt/);
  await assert.rejects(solveTarget({ context, problem: 'blank' }), /no prompt/);
  await assert.rejects(solveTarget({ context, problem: 'missing.txt' }), /neither a task nor a file/);
});
