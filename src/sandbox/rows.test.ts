import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseOutputRow, parseStdioRow } from './rows.ts';

const ofJson = (row: unknown) => Buffer.from(JSON.stringify(row));

test('a row has the fields of its kind and no others', () => {
  assert.deepEqual(parseOutputRow(ofJson({ kind: 'value', value: '1', repr: '1', verdict: 'pass' }), 'R'), {
    kind: 'value',
    value: '1',
    repr: '1',
  });
  assert.deepEqual(parseOutputRow(ofJson({ kind: 'timeout', value: '1' }), 'N'), { kind: 'timeout' });
});

test('texts for people are bounded, whoever wrote them', () => {
  const row = parseOutputRow(ofJson({ kind: 'value', value: '1', repr: 'x'.repeat(100_000) }), 'R');
  assert.equal(row.kind === 'value' && row.repr.length, 1000);
});

test('what is not a row is a crash of the program that wrote it', () => {
  const crash = { kind: 'crash', detail: 'wrote into its result pipe' };
  for (const row of [
    null,
    [],
    1,
    'pass',
    {},
    { kind: 'pass' },
    { kind: 'value' },
    { kind: 'value', value: 1, repr: '' },
    { kind: 'timeout' },
    { kind: 'not_run' },
    { kind: 'crash', detail: '' },
  ]) {
    assert.deepEqual(parseOutputRow(ofJson(row), 'R'), crash, JSON.stringify(row));
  }
  assert.deepEqual(parseOutputRow(Buffer.from('{"kind":'), 'R'), crash);
  assert.deepEqual(parseStdioRow(ofJson({ kind: 'value', value: '1', repr: '1' }), 'R'), crash);
});

test('no bytes make a parser throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => new TextEncoder().encode(text)),
      ),
      (data) => {
        for (const tag of ['R', 'N'] as const) parseOutputRow(Buffer.from(data), tag);
        for (const tag of ['R', 'N'] as const) parseStdioRow(Buffer.from(data), tag);
      },
    ),
  );
});
