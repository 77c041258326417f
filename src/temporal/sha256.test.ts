import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { sha256Hex } from './sha256.ts';

test('agrees with node:crypto at every length around a block boundary', () => {
  for (let length = 0; length <= 130; length += 1) {
    const text = 'x'.repeat(length);
    assert.equal(sha256Hex(text), createHash('sha256').update(text).digest('hex'), `length ${length}`);
  }
});

test('agrees with node:crypto on any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      assert.equal(sha256Hex(text), createHash('sha256').update(text).digest('hex'));
    }),
  );
});
