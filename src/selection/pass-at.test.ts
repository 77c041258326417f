import assert from 'node:assert/strict';
import test from 'node:test';
import { rankedPassAt } from './pass-at.ts';

const at = (groups: number[][], correct: number[], k: number, rankedGroups = groups) =>
  rankedPassAt({ groups, rankedGroups, correct, k });

test('three ways of counting ties', () => {
  // Programs 0 and 1 share the first place; only 1 is right, and so is 2, alone in the second.
  const groups = [[0, 1], [2], [3]];
  const correct = [0, 1, 1, 0];
  assert.deepEqual(at(groups, correct, 1), { tieAware: 0.5, indexOrder: 0, codet: 0.5 });
  assert.deepEqual(at(groups, correct, 2), { tieAware: 1, indexOrder: 1, codet: 1 });
});

test('the tie-aware top k takes in all who tie with the k-th', () => {
  // Top 2 of {0} and {1, 2, 3}: any two of four, of which one is right.
  assert.deepEqual(at([[0], [1, 2, 3]], [0, 0, 1, 0], 2), { tieAware: 0.5, indexOrder: 0, codet: 1 - (1 - 1 / 3) });
});

test("CodeT's metric starts over when there are fewer groups than draws", () => {
  assert.equal(at([[0, 1]], [1, 0], 3).codet, null);
  assert.equal(at([[0, 1, 2, 3]], [1, 0, 0, 0], 2).codet, 1 - 0.75 ** 2);
});

test("CodeT's metric without any ranked program is that of a random choice", () => {
  assert.equal(at([[0, 1, 2, 3]], [1, 0, 0, 0], 2, []).codet, 0.5);
  assert.equal(
    at(
      [
        [0, 1],
        [2, 3],
      ],
      [0, 0, 1, 1],
      1,
      [[0, 1]],
    ).codet,
    0,
  );
});

test('a pool smaller than k, or none, gives null', () => {
  assert.deepEqual(at([[0]], [1], 2), { tieAware: null, indexOrder: null, codet: null });
  assert.deepEqual(at([], [], 1), { tieAware: null, indexOrder: null, codet: null });
});
