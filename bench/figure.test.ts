import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Figure, figureLine, interleaved, kept, median } from './figure.ts';

const figure: Figure = { bench: 'b', figure: 'f', value: 12.34567, unit: 's', reference: 24, ratio: 0.5144 };

test('a line holds exactly what scripts expect, and beside it the mark and whether it is kept', () => {
  assert.deepEqual(JSON.parse(figureLine(figure)), { ...figure, value: 12.346, ratio: 0.514 });
  const marked = JSON.parse(figureLine({ ...figure, mark: { of: 'ratio', atMost: 1 } }));
  assert.deepEqual([marked.mark, marked.kept], [{ of: 'ratio', atMost: 1 }, true]);
});

test('a mark is about the value or the ratio, from above or below', () => {
  assert.equal(kept(figure), undefined);
  assert.equal(kept({ ...figure, mark: { of: 'value', atLeast: 12.4 } }), false);
  assert.equal(kept({ ...figure, mark: { of: 'value', atMost: 12.4 } }), true);
  assert.equal(kept({ ...figure, ratio: null, mark: { of: 'ratio', atMost: 1 } }), false);
});

test('contenders take turns, and each gets its median', async () => {
  const order: string[] = [];
  const times = { a: [3, 1, 2], b: [10, 30, 20] };
  const medianOf = await interleaved(3, {
    a: async () => (order.push('a'), times.a.shift() ?? 0),
    b: async () => (order.push('b'), times.b.shift() ?? 0),
  });
  assert.deepEqual(order, ['a', 'b', 'a', 'b', 'a', 'b']);
  assert.deepEqual([medianOf('a'), medianOf('b')], [2, 20]);
  assert.equal(median([1, 2, 3, 10]), 2.5);
});
