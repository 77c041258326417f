import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupsOf } from './calls-payload.ts';

test('few programs go to a container one by one, many in groups that leave each slot several', () => {
  const sizes = (count: number, slots: number) =>
    groupsOf(
      Array.from({ length: count }, (_, at) => at),
      slots,
    ).map((group) => group.length);
  assert.deepEqual(sizes(0, 2), []);
  assert.deepEqual(sizes(5, 2), [1, 1, 1, 1, 1]);
  assert.deepEqual(
    sizes(20, 2),
    Array.from({ length: 10 }, () => 2),
  );
  assert.deepEqual(sizes(100, 2), [...Array.from({ length: 8 }, () => 12), 4]);
  assert.deepEqual(sizes(1000, 1).slice(0, 2), [16, 16]);
  assert.deepEqual(groupsOf(['a', 'b', 'c'], 1).flat(), ['a', 'b', 'c']);
});
