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

test('the text is one bounded, well-formed line', () => {
  assert.equal(redact('a\u001b[2J\u0000\r\n b\u2028c'), 'a [2J b c');
  assert.ok(redact('\ud83d\ude00'.repeat(5000)).isWellFormed());
  assert.ok(redact('x'.repeat(100_000)).length <= 501);
});
