import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { framedRows, parseOutputRow, parseStdioRow } from './rows.ts';

const ofJson = (row: unknown) => Buffer.from(JSON.stringify(row));
const RAISED = { kind: 'exception', type: 'A', base: 'B', message: 'm', line: 1, phase: 'call' };
const CRASH = { kind: 'crash', detail: 'wrote into its result pipe' };

const frame = (tag: string, body: string | Buffer) => {
  const header = Buffer.alloc(5, tag);
  header.writeUInt32BE(body.length, 1);
  return Buffer.concat([header, Buffer.from(body)]);
};

test('a row has the fields of its kind and no others', () => {
  assert.deepEqual(parseOutputRow(ofJson({ ...RAISED, verdict: 'pass' }), 'R'), RAISED);
  assert.deepEqual(parseOutputRow(ofJson({ kind: 'timeout', value: '1' }), 'N'), { kind: 'timeout' });
});

test('texts for people are bounded, whoever wrote them', () => {
  const row = parseOutputRow(ofJson({ ...RAISED, message: 'x'.repeat(100_000) }), 'R');
  assert.equal(row.kind === 'exception' && row.message.length, 1000);
});

test('rows that a program framed are read one after the other', () => {
  const frames = [frame('V', '[1,2]'), frame('R', ofJson(RAISED)), frame('V', ''), frame('R', '[[[')];
  const expected = [{ kind: 'value', value: '[1,2]' }, RAISED, { kind: 'value', value: '' }, CRASH];
  assert.deepEqual([...framedRows(Buffer.concat(frames))], expected);
  assert.deepEqual([...framedRows(Buffer.alloc(0))], []);
  assert.throws(() => [...framedRows(frame('V', '12').subarray(0, 6))], RangeError);
});

test('what is not a row is a crash of the program that wrote it', () => {
  for (const row of [
    null,
    [],
    1,
    'pass',
    {},
    { kind: 'pass' },
    { kind: 'value', value: '1' },
    { kind: 'timeout' },
    { kind: 'not_run' },
    { kind: 'crash', detail: '' },
  ]) {
    assert.deepEqual(parseOutputRow(ofJson(row), 'R'), CRASH, JSON.stringify(row));
  }
  assert.deepEqual(parseOutputRow(Buffer.from('{"kind":'), 'R'), CRASH);
  assert.deepEqual(parseStdioRow(ofJson({ kind: 'value', value: '1' }), 'R'), CRASH);
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
        assert.equal([...framedRows(frame('V', Buffer.from(data)))].length, 1);
      },
    ),
  );
});
