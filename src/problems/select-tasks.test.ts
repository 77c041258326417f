import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { selectTasks } from './select-tasks.ts';
import { suggest } from './suggest.ts';
import { canonicalTaskId } from './task-id.ts';

const benchmark = { name: 'mbpp', taskIds: Array.from({ length: 500 }, (_, index) => `MBPP/${index + 11}`) };

test('one task has many names', () => {
  for (const text of ['MBPP/12', 'Mbpp/12', 'mbpp/12', '12', ' 12 '])
    assert.equal(canonicalTaskId(benchmark, text), 'MBPP/12');
  assert.equal(canonicalTaskId({ name: 'own', taskIds: ['a/x', 'b/x', 'A/y'] }, 'y'), 'A/y');
});

test('a task that does not exist gets the nearest id; an ambiguous name gets none by luck', () => {
  const remedy = (text: string, of = benchmark) => {
    try {
      return canonicalTaskId(of, text);
    } catch (error) {
      return error instanceof Error && 'remedy' in error ? error.remedy : '';
    }
  };
  assert.equal(remedy('MBP/12'), 'Did you mean "MBPP/12"?');
  assert.equal(remedy('HumanEval/3'), 'Its ids look like MBPP/11.');
  const mini = { name: 'mini', taskIds: ['mini/word-counts', 'mini/chunks'] };
  for (const text of ['chunk', 'Chunkz', 'min/chunk', 'other/chunk']) {
    assert.equal(remedy(text, mini), 'Did you mean "mini/chunks"?', text);
  }
  assert.equal(remedy('quicksort', mini), 'Its ids look like mini/word-counts.');
  assert.equal(remedy('mini/', mini), 'Its ids look like mini/word-counts.');
  assert.match(String(remedy('x', { name: 'own', taskIds: ['a/x', 'b/x'] })), /Did you mean|look like/);
  assert.throws(() => canonicalTaskId(benchmark, '9'), /mbpp has no task "9"/);
});

test('a selection keeps the dataset’s order, or the one given', () => {
  assert.equal(selectTasks({ benchmark }).length, 500);
  assert.deepEqual(selectTasks({ benchmark, limit: 2 }), ['MBPP/11', 'MBPP/12']);
  assert.deepEqual(selectTasks({ benchmark, tasks: ['13', 'Mbpp/11', '13'] }), ['MBPP/13', 'MBPP/11']);
});

test('the shuffle of a seed is the same for ever', () => {
  // Computed apart, in Python.
  assert.deepEqual(selectTasks({ benchmark, shuffle: 7, limit: 5 }), [
    'MBPP/249',
    'MBPP/395',
    'MBPP/261',
    'MBPP/151',
    'MBPP/492',
  ]);
});

test('a shuffle is a permutation, and a limit takes its beginning', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 600 }), (shuffle, limit) => {
      const all = selectTasks({ benchmark, shuffle });
      assert.deepEqual([...all].sort(), [...benchmark.taskIds].sort());
      assert.deepEqual(selectTasks({ benchmark, shuffle, limit }), all.slice(0, limit));
    }),
    { numRuns: 20 },
  );
});

test('every place is about as likely for the first task', () => {
  const small = { name: 'own', taskIds: ['a', 'b', 'c', 'd'] };
  const counts = [0, 0, 0, 0];
  for (let shuffle = 0; shuffle < 4000; shuffle++) {
    const place = selectTasks({ benchmark: small, shuffle }).indexOf('a');
    counts[place] = (counts[place] ?? 0) + 1;
  }
  for (const count of counts) assert.ok(Math.abs(count - 1000) < 120, String(counts));
});

test('empty, negative and fractional selections are refused', () => {
  assert.throws(() => selectTasks({ benchmark, tasks: [] }), /No task is selected/);
  for (const limit of [0, -1, 1.5, Number.NaN]) assert.throws(() => selectTasks({ benchmark, limit }), /limit/);
  for (const shuffle of [-1, 0.5]) assert.throws(() => selectTasks({ benchmark, shuffle }), /seed/);
});

test('only a near name is suggested', () => {
  assert.equal(suggest('HumanEvl', ['humaneval', 'mbpp']), 'humaneval');
  assert.equal(suggest('gsm8k', ['humaneval', 'mbpp']), undefined);
  assert.equal(suggest('x', []), undefined);
});
