import assert from 'node:assert/strict';
import test from 'node:test';
import { bitAt } from './bit-matrix.ts';
import { select, usableMethods } from './methods.ts';
import { collapse } from './pass-matrix.ts';
import { readMatrix } from './read-matrix.ts';

const INVALID: [what: string, text: string, message: RegExp][] = [
  ['no JSON', 'matrix', /not JSON/],
  ['NaN, which JSON does not know', '{"matrix":[[NaN]]}', /not JSON/],
  ['another kind of value', '[[1]]', /no key "matrix"/],
  ['no matrix', '{"rows":[[1]]}', /no key "matrix"/],
  ['a matrix of text', '{"matrix":"10"}', /no list of rows/],
  ['no program', '{"matrix":[]}', /no program/],
  ['a row that is none', '{"matrix":[1,0]}', /Row 0 of the matrix is 1/],
  ['ragged rows', '{"matrix":[[1,0],[1]]}', /Row 1 of the matrix has 1 cells, row 0 has 2/],
  ['a row longer than the first', '{"matrix":[[1],[1,0]]}', /Row 1/],
  ['a cell of 2', '{"matrix":[[1,2]]}', /Row 0, column 1 of the matrix is 2/],
  ['a cell of null', '{"matrix":[[null]]}', /column 0 of the matrix is null/],
  ['a cell of true', '{"matrix":[[true]]}', /is true/],
  ['a cell of text', '{"matrix":[["1"]]}', /is "1"/],
  ['a cell of 1e400', '{"matrix":[[1e400]]}', /is null/],
  ['a weight of 0', '{"matrix":[[1]],"weights":[0]}', /"weights" holds 0 at 0/],
  ['half a weight', '{"matrix":[[1]],"weights":[0.5]}', /"weights" holds 0\.5/],
  ['too many weights', '{"matrix":[[1,0]],"weights":[1,1,1]}', /list of 1 numbers, one for each program, or of 2/],
  ['labels of another length', '{"matrix":[[1]],"correct":[1,0]}', /"correct" is no list of 1/],
  ['a label of 2', '{"matrix":[[1]],"correct":[2]}', /holds 2 for program 0/],
  ['outputs of another shape', '{"matrix":[[1],[0]],"outputs":[[1,2],[1]]}', /"outputs\[1\]" is no list of 2/],
  ['names that are numbers', '{"matrix":[[1]],"tests":[1]}', /"tests" holds 1 at 0/],
];

for (const [what, text, message] of INVALID) {
  test(`${what} is invalid, with a remedy`, () => {
    const reading = readMatrix(text);
    assert.ok(reading.kind === 'invalid');
    assert.match(reading.message, message);
    assert.notEqual(reading.remedy, '');
  });
}

test('weights are multiplicities of rows, or of columns where only that fits', () => {
  const read = (text: string) => {
    const reading = readMatrix(text);
    assert.ok(reading.kind === 'matrix');
    return { rows: [...reading.file.matrix.rowCounts], columns: [...reading.file.matrix.columnCounts] };
  };
  assert.deepEqual(read('{"matrix":[[1,0],[1,1]],"weights":[2,3]}'), { rows: [2, 3], columns: [1, 1] });
  assert.deepEqual(read('{"matrix":[[1,0]],"weights":[2,3]}'), { rows: [1], columns: [2, 3] });
});

test('no test at all is valid, and every program equal', () => {
  const reading = readMatrix('{"matrix":[[],[]]}');
  assert.ok(reading.kind === 'matrix');
  const { groups, tests } = select('aces-o', { collapsed: collapse(reading.file.matrix), seed: 0 });
  assert.deepEqual(groups, [[0, 1]]);
  assert.deepEqual([...(tests?.weights ?? [])], []);
});

test('a million tests are read and ranked', () => {
  const row = (first: number, last: number) => `[${first},${'0,'.repeat(999_998)}${last}]`;
  const reading = readMatrix(`{"matrix":[${row(1, 1)},${row(0, 1)},${row(0, 0)}]}`);
  assert.ok(reading.kind === 'matrix');
  assert.equal(bitAt(reading.file.matrix.bits, 1, 999_999), 1);
  const collapsed = collapse(reading.file.matrix);
  assert.equal(collapsed.byTest.rows, 3);
  for (const name of usableMethods({ outputs: false })) {
    const { order, groups } = select(name, { collapsed, seed: 0 });
    if (['aces-c', 'aces-o', 'majority', 'codet'].includes(name)) assert.deepEqual(order, [0, 1, 2], name);
    assert.equal(groups.flat().length, 3);
  }
});
