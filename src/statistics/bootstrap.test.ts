import assert from 'node:assert/strict';
import test from 'node:test';
import { bootstrapInterval } from './bootstrap.ts';

/** Not random at all, but even: multiples of the golden ratio. */
function even(): () => number {
  let at = 0;
  return () => (at = (at + 0.618033988749895) % 1);
}

test('the interval of a share is about that of the normal approximation', () => {
  const values = Array.from({ length: 400 }, (_, at) => (at < 100 ? 1 : 0));
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const interval = bootstrapInterval(values, random);
  const half = 1.96 * Math.sqrt((0.25 * 0.75) / 400);
  assert.ok(interval !== null && Math.abs(interval.low - (0.25 - half)) < 0.01, JSON.stringify(interval));
  assert.ok(Math.abs(interval.high - (0.25 + half)) < 0.01, JSON.stringify(interval));
});

test('equal values have no spread; no values have no interval', () => {
  assert.deepEqual(bootstrapInterval([0.5, 0.5, 0.5], even()), { low: 0.5, high: 0.5 });
  assert.equal(bootstrapInterval([], even()), null);
});
