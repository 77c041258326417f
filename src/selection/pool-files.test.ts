import assert from 'node:assert/strict';
import test from 'node:test';
import type { Problem } from '../problems/problem.ts';
import { testsOfSamples } from './codet-samples.ts';
import { readProgramPools, readTestPools } from './pool-files.ts';

const problem = (taskId: string, entryPoint: string, doc: string): Problem => ({
  taskId,
  kind: 'function',
  entryPoint,
  form: 'completion',
  statement: `def ${entryPoint}(x):\n    """ ${doc}\n    >>> ${entryPoint}(1)\n    2\n    """\n`,
  preamble: '',
  visibleTests: [],
});
const all = [problem('t/1', 'add', 'One more.'), problem('t/2', 'add', 'Two more.'), problem('t/3', 'sub', 'Less.')];
const tasks = { all, byId: (id: string) => all.find(({ taskId }) => taskId === id) };
const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n');

test('programs come whole, as completions, or as samples that end where something new begins', () => {
  const prompt = 'def add(x):\n    """ Two more.\n    """\n';
  const { pools, bad } = readProgramPools(
    lines(
      { task_id: 't/3', solution: 'def sub(x): return x' },
      { task_id: 't/3', completion: '    return 1\n' },
      { prompt, samples: ['    return x + 2\n\n\ndef other():\n    pass', '    return 0\nprint(add(1))'] },
    ),
    tasks,
  );
  assert.deepEqual(bad, []);
  assert.deepEqual(
    [...pools],
    [
      ['t/3', ['def sub(x): return x', `${all[2]?.statement}    return 1\n`]],
      // Two tasks have that entry point; the statement tells them apart.
      ['t/2', [`${prompt}    return x + 2\n\n`, `${prompt}    return 0`]],
    ],
  );
});

test('tests are counted and distinct', () => {
  const { pools, bad } = readTestPools(
    `${lines({ task_id: 't/1', tests: ['assert add(1) == 2', 'assert add(1) == 2 ', 'assert add(2) == 3'] }, { task_id: 't/1', test: 'assert add(2) == 3' })}\n\n`,
    tasks,
  );
  assert.deepEqual(bad, []);
  assert.deepEqual(
    [...(pools.get('t/1') ?? [])],
    [
      ['assert add(1) == 2', 2],
      ['assert add(2) == 3', 2],
    ],
  );
});

test("CodeT's samples: pieces that name the function and parse, cut at what comes after, five a sample", () => {
  const found = testsOfSamples({
    entryPoint: 'add',
    samples: [
      'add(1) == 2\nassert other(1)\nassert add(2) ==\nassert add(3) == 4\n\ndef more(): pass',
      'add(1) == 2\n# and so on',
      [1, 2, 3, 4, 5, 6, 7].map((n) => `add(${n}0) == 0`).join('\nassert '),
    ],
  });
  assert.deepEqual(
    [...found],
    [
      ['assert add(1) == 2', 2],
      ['assert add(3) == 4', 1],
      ...[10, 20, 30, 40, 50].map((n) => [`assert add(${n}) == 0`, 1]),
    ],
  );
});

test('lines that cannot be used are told by their number', () => {
  const text = ['{', '{"task_id":"t/1"}', '{"solution":"x"}', '{"prompt":"def none(x):","samples":[]}', '[]'].join(
    '\n',
  );
  const { pools, bad } = readProgramPools(text, tasks);
  assert.equal(pools.size, 0);
  assert.deepEqual(
    bad.map(({ line, message }) => `${line} ${message}`),
    [
      '1 is no JSON',
      '2 has none of the known forms',
      '3 names no task: it has neither "task_id" nor "prompt"',
      '4 has the prompt of no task of this benchmark',
      '5 has none of the known forms',
    ],
  );
});
