import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { summary } from './summary.ts';

test('whatever the text, a summary is one well-formed line that fits the server, and as long as that allows', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 600 }),
    fc
      .array(fc.constantFrom('a', '"', '\\', 'ß', '試', '\u{1f600}', '\ud800', '\u0000', '\u001b[2J', '\n', '\u2028'), {
        maxLength: 600,
      })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (given) => {
      const said = summary(given);
      const bytes = Buffer.byteLength(JSON.stringify(said));
      assert.ok(bytes <= 400, `${bytes} bytes`);
      assert.ok(said.isWellFormed());
      assert.doesNotMatch(said, /[\p{Cc}\p{Zl}\p{Zp}]/u);
      const whole = given.toWellFormed().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
      assert.ok(whole.startsWith(said));
      assert.ok(said === whole || bytes > 380);
    }),
  );
});
