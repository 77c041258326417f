import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonSplitError, jsonString, splitJsonArray, splitJsonObject } from './json-split.ts';

test('values come out as they stand in the text', () => {
  const line =
    '{"a": [[-Infinity, NaN], [1.0, 12345678901234567890, 1e400]], "atol": 1e-06, "b":{"]":"}\\""},"c":null , "d\\n":"x"}';
  assert.deepEqual(
    [...splitJsonObject(line)],
    [
      ['a', '[[-Infinity, NaN], [1.0, 12345678901234567890, 1e400]]'],
      ['atol', '1e-06'],
      ['b', '{"]":"}\\""}'],
      ['c', 'null'],
      ['d\n', '"x"'],
    ],
  );
});

test('an empty object and an empty array have no members', () => {
  assert.equal(splitJsonObject(' { } ').size, 0);
  assert.deepEqual(splitJsonArray('[ ]'), []);
});

test('any JSON object is cut into texts that mean its values', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
      fc.constantFrom(undefined, 1, '\t'),
      (object, indent) => {
        const members = splitJsonObject(JSON.stringify(object, null, indent));
        const back = JSON.parse(`{${[...members].map(([key, raw]) => `${JSON.stringify(key)}:${raw}`).join(',')}}`);
        assert.deepEqual(back, JSON.parse(JSON.stringify(object)));
      },
    ),
  );
});

test('any JSON array is cut into texts that mean its elements', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (array) => {
      const text = JSON.stringify(array);
      const elements = splitJsonArray(text);
      assert.deepEqual(
        elements.map(({ raw }) => JSON.parse(raw)),
        JSON.parse(text),
      );
      for (const { raw, offset } of elements) assert.equal(text.slice(offset, offset + raw.length), raw);
    }),
  );
});

test('text that JSON.parse refuses is refused, Python’s three words aside', () => {
  const accepts = (parse: (text: string) => unknown, text: string): boolean => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const mutated = fc
    .tuple(
      fc.jsonValue(),
      fc.nat(),
      fc.constantFrom('', ',', ':', '"', '[', ']', '{', '}', '0', '-', '.', 'e', 't', '\\', ' ', '\n', '\u0001'),
      fc.boolean(),
    )
    .map(([value, at, insert, drop]) => {
      const text = JSON.stringify([value]);
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + insert + text.slice(drop ? cut + 1 : cut);
    });
  fc.assert(
    fc.property(mutated, (text) => {
      const isArray = accepts(JSON.parse, text) && Array.isArray(JSON.parse(text));
      // Escapes of nested strings are left to whoever decodes them.
      if (text.includes('\\')) return;
      assert.equal(accepts(splitJsonArray, text), isArray, text);
    }),
    { numRuns: 500 },
  );
});

test('a text cut off anywhere is refused, and says that it ends too early', () => {
  const text = '{"a":[1,{"b":"c\\u0041"}],"d":-1.5}';
  for (let length = 0; length < text.length; length++) {
    assert.throws(
      () => splitJsonObject(text.slice(0, length)),
      // A cut inside a number or word leaves one that is complete or wrong by itself, before the missing end.
      (error: unknown) => error instanceof JsonSplitError && (error.atEnd || /-$|-1\.$/.test(text.slice(0, length))),
      text.slice(0, length),
    );
  }
});

test('a key that stands twice, trailing text and bare words are refused', () => {
  for (const text of [
    '{"a":1,"a":2}',
    '{"a":1} {"b":2}',
    '{"a":1}\r{"b":2}',
    '{a:1}',
    '{"a":01}',
    '{"a":+1}',
    '{"a":nul}',
    '{"a":1,}',
    '[1]',
    '"x"',
  ]) {
    assert.throws(() => splitJsonObject(text), JsonSplitError, text);
  }
});

test('a million nested brackets and a string of ten million characters are read', () => {
  const nested = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
  assert.equal(splitJsonObject(`{"a":${nested}}`).get('a')?.length, nested.length);
  assert.equal(
    jsonString(splitJsonObject(`{"a":"${'\u2028'.repeat(10_000_000)}"}`).get('a') ?? '')?.length,
    10_000_000,
  );
});
