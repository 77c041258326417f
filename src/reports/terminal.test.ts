import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { duration, percent } from './terminal.ts';

test('no unit of a duration is ever full', () => {
  for (const [ms, text] of [
    [0, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [1000, '1.0 s'],
    [59_949, '59.9 s'],
    [59_960, '1 min 0 s'],
    [60_000, '1 min 0 s'],
    [119_600, '2 min 0 s'],
    [125_400, '2 min 5 s'],
  ] as const) {
    assert.equal(duration(ms), text);
  }
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e7, noNaN: true }), (ms) => {
      assert.doesNotMatch(duration(ms), /\b(1000 ms|60(\.0)? s)/u);
    }),
  );
});

test('a share is rounded to a tenth, but never up to all nor down to nothing', () => {
  for (const [share, text] of [
    [null, '–'],
    [0, '0.0 %'],
    [0.0001, '< 0.1 %'],
    [0.0006, '0.1 %'],
    [0.5, '50.0 %'],
    [0.9994, '99.9 %'],
    [0.9999, '> 99.9 %'],
    [1, '100.0 %'],
  ] as const) {
    assert.equal(percent(share), text);
  }
});
