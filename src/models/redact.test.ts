import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from './redact.ts';

test('keys go, by value and by shape', () => {
  const text = redact('key "my-own-key", sk-proj-abc123, Bearer abc.def, http://u:p@host/v1', [
    'my-own-key',
    undefined,
  ]);
  assert.equal(text, 'key "[key]", [key], Bearer [key] http://host/v1');
});

test('keys go as URLs and JSON spell them too, whole and at any place', () => {
  const secret = 'a+b/c d"ü%';
  for (const spelling of [
    secret,
    'a%2Bb%2Fc%20d%22%C3%BC%25',
    'a%2bb%2fc%20d%22%c3%bc%25',
    'a%2Bb%2Fc+d%22%C3%BC%25',
    'a+b/c d\\"ü%',
  ]) {
    assert.equal(redact(`x=${spelling}&y`, [secret]), 'x=[key]&y', spelling);
    assert.ok(!redact('z'.repeat(3995) + spelling, [secret]).includes(spelling.slice(0, 5)));
  }
  const long = 'q'.repeat(100);
  assert.ok(!redact(`${long} `.repeat(60), [long]).includes('qqq'), 'none is cut in the middle');
});

test('the text is one bounded, well-formed line', () => {
  assert.equal(redact('a\u001b[2J\u0000\r\n b\u2028c'), 'a [2J b c');
  assert.ok(redact('\ud83d\ude00'.repeat(5000)).isWellFormed());
  assert.ok(redact('x'.repeat(100_000)).length <= 501);
});
