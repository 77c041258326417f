import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Problem } from '../problems/problem.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { testSandbox, withoutDocker } from '../sandbox/testing.ts';
import { runPool } from './run-pool.ts';
import { runStdioPool } from './run-stdio-pool.ts';

const problem: Problem = {
  taskId: 'own/1',
  kind: 'function',
  entryPoint: 'f',
  form: 'completion',
  statement: '',
  preamble: '',
  visibleTests: [],
};

describe('a pool of programs and tests', { skip: withoutDocker }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await testSandbox();
  });
  after(() => sandbox.close());

  test('passes, outputs and unusable tests, by program as given', async () => {
    const run = await runPool({
      sandbox,
      problem,
      programs: ['def f(x):\n  return x', 'def f(x):\n  return -x', 'def f(x): return 1 / 0', 'def f(x):\n  return x'],
      tests: ['assert f(1) == 1', 'assert f(', 'assert f(0) == 0', 'assert 1 == 1', 'assert f(1) == -1'],
    });
    assert.deepEqual(run.statuses, [
      ['pass', 'invalid_test', 'pass', 'invalid_test', 'fail'],
      ['fail', 'invalid_test', 'pass', 'invalid_test', 'pass'],
      ['error', 'invalid_test', 'error', 'invalid_test', 'error'],
      ['pass', 'invalid_test', 'pass', 'invalid_test', 'fail'],
    ]);
    // Two calls, f(1) and f(0).
    const [first, second, third, fourth] = run.outputs.map((values) => [...values]);
    assert.deepEqual(first, fourth);
    assert.equal(first?.[1], second?.[1]);
    assert.notEqual(first?.[0], second?.[0]);
    assert.deepEqual(third, [-1, -1]);
    assert.equal(run.rechecked, 0);
  });

  test('a program that hangs twice runs no further, and is tried once more', async () => {
    const run = await runPool({
      sandbox,
      problem,
      programs: ['def f(x):\n  while x: pass\n  return 0', 'def f(x):\n  return 0'],
      tests: [0, 1, 2, 3].map((x) => `assert f(${x}) == 0`),
    });
    assert.deepEqual(run.statuses, [
      ['pass', 'timeout', 'timeout', 'not_run'],
      ['pass', 'pass', 'pass', 'pass'],
    ]);
    assert.equal(run.rechecked, 1);
  });

  test('a program that was slow by chance counts as it is when it is run again', async () => {
    let jobs = 0;
    const busy: Sandbox = {
      ...sandbox,
      runCalls: async (job) => {
        const rows = await sandbox.runCalls(job);
        jobs += 1;
        return jobs === 1 ? rows.map((row) => row.map(() => ({ kind: 'timeout' }))) : rows;
      },
    };
    const programs = ['def f(x):\n  while x: pass\n  return 0', 'def f(x):\n  return x'];
    const tests = ['assert f(1) == 1', 'assert f(0) == 0'];
    const run = await runPool({ sandbox: busy, problem, programs, tests });
    assert.deepEqual(run.statuses, [
      ['timeout', 'timeout'],
      ['pass', 'pass'],
    ]);
    assert.deepEqual([run.outputs[1]?.length, run.rechecked, jobs], [2, 2, 3]);
  });

  test('no test and no program give nothing', async () => {
    const noTest = await runPool({ sandbox, problem, programs: ['def f(x): pass'], tests: [] });
    assert.deepEqual(noTest.statuses, [[]]);
    assert.deepEqual((await runPool({ sandbox, problem, programs: [], tests: ['assert f(1)'] })).statuses, []);
  });

  test('programs that read standard input: what is printed is the output', async () => {
    const run = await runStdioPool({
      sandbox,
      programs: ['print(int(input()) * 2)', 'print(int(input()) ** 2)', 'input(); 1 / 0', 'print(int(input()) * 2)'],
      cases: [
        { stdin: '2\n', stdout: '4\n' },
        { stdin: '3\n', stdout: '6' },
      ],
    });
    assert.deepEqual(run.statuses, [
      ['pass', 'pass'],
      ['pass', 'fail'],
      ['error', 'error'],
      ['pass', 'pass'],
    ]);
    const [double, square, fails] = run.outputs.map((values) => [...values]);
    assert.equal(double?.[0], square?.[0]);
    assert.notEqual(double?.[1], square?.[1]);
    assert.deepEqual(fails, [-1, -1]);
  });
});
