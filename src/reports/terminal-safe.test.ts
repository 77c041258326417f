import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { terminalJson, terminalLine, terminalSafe } from './terminal-safe.ts';

test('controls, overrides and lone surrogates become visible; text stays', () => {
  for (const [raw, safe] of [
    ['plain äß 漢字 👩‍💻', 'plain äß 漢字 👩‍💻'],
    ['\x1b[2J\x1b]0;title\x07', '\\x1b[2J\\x1b]0;title\\x07'],
    ['a\0b\x7f\x9bm', 'a\\x00b\\x7f\\x9bm'],
    ['50 %\r99 %', '50 %\\r99 %'],
    ['if a:\u202e # }', 'if a:\\u202e # }'],
    ['\ud800x\udc00', '\\ud800x\\udc00'],
    ['\u2028\u200b\ufeff\u{e0041}', '\\u2028\\u200b\\ufeff\\u{e0041}'],
    ['\tkept\n', '\tkept\n'],
  ] as const) {
    assert.equal(terminalSafe(raw), safe);
  }
  assert.equal(terminalLine('a\n\tb'), 'a\\n\\tb');
});

test('nothing that a terminal obeys is left in any text, and doing it twice changes nothing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0x2ff }))),
      (units) => {
        const raw = String.fromCharCode(...units);
        const safe = terminalSafe(raw);
        assert.ok(
          Array.from(safe).every((c) => c === '\n' || c === '\t' || (c >= ' ' && !(c >= '\x7f' && c < '\xa0'))),
        );
        assert.ok(safe.isWellFormed());
        assert.equal(terminalSafe(safe), safe);
        assert.ok(!/[\n\t]/.test(terminalLine(raw)));
      },
    ),
  );
});

test('JSON made harmless is the same value', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const safe = terminalJson(JSON.stringify({ text: `${text}\u009b\u202e\u{e0041}` }));
      assert.equal(terminalSafe(safe), safe);
      assert.deepEqual(JSON.parse(safe), { text: `${text}\u009b\u202e\u{e0041}` });
    }),
  );
});

test('10 MB of escapes take a moment, not minutes', () => {
  const startedAt = performance.now();
  terminalSafe('\x1b'.repeat(5_000_000) + 'x'.repeat(5_000_000));
  assert.ok(performance.now() - startedAt < 10_000);
});
