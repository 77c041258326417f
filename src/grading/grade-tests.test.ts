import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Problem, VisibleTest } from '../problems/problem.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { TEST_LIMITS, testSandbox, withoutDocker } from '../sandbox/testing.ts';
import { gradeTests } from './grade-tests.ts';

const problem = (part: Partial<Problem>): Problem => ({
  taskId: 'own/1',
  kind: 'function',
  entryPoint: 'f',
  form: 'completion',
  statement: '',
  preamble: '',
  visibleTests: [],
  ...part,
});

describe('visible and synthesised tests', { skip: withoutDocker }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await testSandbox();
  });
  after(() => sandbox.close());
  const grade = async (task: Problem, programs: string[], tests: VisibleTest[]) => {
    const found = await gradeTests({ sandbox, problem: task, programs, tests, trust: 'model', limits: TEST_LIMITS });
    return found.map((results) => results.map((result) => result.status));
  };

  test('results stand in the order of programs and tests, equal programs included', async () => {
    const tests: VisibleTest[] = [
      { kind: 'assert', source: 'assert f(1) == half(2)' },
      { kind: 'assert', source: 'assert f(' },
      { kind: 'assert', source: 'assert f(2) == 2' },
    ];
    const task = problem({ preamble: 'def half(n):\n    return n // 2\n' });
    const programs = ['def f(x):\n  return x', 'def f(x):\n  return 2', 'def f(x):\n  return x'];
    assert.deepEqual(await grade(task, programs, tests), [
      ['pass', 'invalid_test', 'pass'],
      ['fail', 'invalid_test', 'pass'],
      ['pass', 'invalid_test', 'pass'],
    ]);
  });

  test('programs that read and print', async () => {
    const tests: VisibleTest[] = [
      { kind: 'stdio', stdin: '2\n', stdout: '4\n' },
      { kind: 'stdio', stdin: '', stdout: '' },
    ];
    const programs = ['print(int(input()) ** 2)', 'import sys\nfor n in sys.stdin:\n  print(int(n) ** 2)'];
    assert.deepEqual(await grade(problem({ kind: 'stdio', entryPoint: '' }), programs, tests), [
      ['pass', 'error'],
      ['pass', 'pass'],
    ]);
  });

  test('feedback names the test, both values, the line and what was printed, all bounded and marked where cut', async () => {
    const source = [
      'import sys',
      'print("loaded")',
      'sys.stdout.buffer.flush(), sys.stdout.fileno(), sys.stdout.reconfigure(line_buffering=True)',
      'def f(x):',
      '  print("x is", x)',
      '  if x == 2: raise ValueError("boom" * 1000)',
      '  if x == 3: print("y" * (50 << 20))',
      '  if x == 4: return "v" * 5000',
      '  return x',
    ].join('\n');
    const tests = [1, 2, 3, 4].map((x) => ({ kind: 'assert', source: `assert f(${x}) == 9` }) as const);
    const inherent = { kind: 'assert', source: 'a = [1]\nf(a)\nassert a == [2]' } as const;
    const [results = []] = await gradeTests({
      sandbox,
      problem: problem({}),
      programs: [source],
      tests: [...tests, inherent],
      trust: 'model',
      limits: TEST_LIMITS,
    });
    const [one, two, three, four, five] = results;
    assert.deepEqual(one, {
      status: 'fail',
      test: 'assert f(1) == 9',
      actual: '1',
      expected: '9',
      printed: 'loaded\nx is 1\n',
    });
    assert.match(two?.exception ?? '', /^ValueError: (boom)+b?o?o?\.\.\. \(line 6\)$/);
    assert.equal(two?.printed, 'x is 2\n');
    assert.match(three?.printed ?? '', /^x is 3\ny{400,}\.\.\.$/);
    assert.match(four?.actual ?? '', /^'v+\.\.\.$/);
    for (const text of [two?.exception, three?.printed, four?.actual]) assert.ok((text ?? '').length < 520);
    assert.deepEqual([five?.status, five?.printed], ['fail', 'loaded\nx is [1]\n']);
  });

  test('no test and no program give nothing', async () => {
    assert.deepEqual(await grade(problem({}), ['def f(x):\n  return x'], []), [[]]);
    assert.deepEqual(await grade(problem({}), [], [{ kind: 'assert', source: 'assert f(1) == 1' }]), []);
  });
});
