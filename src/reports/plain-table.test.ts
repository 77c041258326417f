import assert from 'node:assert/strict';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { plainTable } from './plain-table.ts';

test('a table has a frame where it fits, and none, under short heads, where it does not', () => {
  const table = { head: ['step', 'many words'], shortHead: ['step', 'words'], rows: [['生成', '1']] };
  const framed = plainTable({ ...table, columns: 21 });
  assert.match(framed, /│ step │ many words │/);
  assert.equal(stringWidth(framed.split('\n')[0] ?? ''), 21);
  assert.equal(plainTable({ ...table, columns: 20 }), '  step  words\n  生成      1');
});
