import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Arrivals, BodyLog } from '../../src/models/scripted/arrival-log.ts';
import { repeatedCalls } from './calls.ts';

function found(log: Partial<BodyLog>, { charged = 0, settled = 1, storedAtMs = 100, keys = ['key'] } = {}): string[] {
  const body: BodyLog = { arrivals: [], completed: [], refused: [], faults: [], ...log };
  const arrivals: Arrivals = { total: 0, open: 0, completed: 0, counts: {}, bodies: { body } };
  return repeatedCalls(arrivals, {
    replies: new Map([['body', { keys, storedAtMs }]]),
    possiblyCharged: new Map([['key', charged]]),
    settled: new Map([['key', settled]]),
    open: 0,
  });
}

test('what is explained is no repeated call: one reply, refusals, possibly charged reservations', () => {
  assert.deepEqual(found({ arrivals: [1], completed: [2] }), []);
  assert.deepEqual(found({ arrivals: [1, 5, 9], refused: [2, 6], completed: [10] }), []);
  assert.deepEqual(found({ arrivals: [1, 5, 9] }, { charged: 2 }), []);
  assert.deepEqual(found({ arrivals: [1, 5], completed: [2, 6] }, { settled: 2 }), []);
  assert.deepEqual(found({ arrivals: [1, 5] }, { keys: ['key', 'the same question of another sample'] }), []);
});

test('what is not is told, one line a call', () => {
  assert.equal(found({ arrivals: [1, 5], completed: [2, 6] }).length, 1);
  assert.equal(found({ arrivals: [1, 5, 9], completed: [2] }, { charged: 1 }).length, 1);
  assert.match(found({ arrivals: [1, 101], refused: [102] })[0] ?? '', /1 ms after its reply was stored/);
  const unknown: Arrivals = {
    total: 1,
    open: 0,
    completed: 0,
    counts: {},
    bodies: { x: { arrivals: [1], completed: [], refused: [], faults: [] } },
  };
  assert.equal(
    repeatedCalls(unknown, { replies: new Map(), possiblyCharged: new Map(), settled: new Map(), open: 0 }).length,
    1,
  );
});
