import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cpuMs } from './cpu-ms.ts';
import { splitAsserts } from './split-asserts.ts';

const rows: [name: string, text: string, expected: string[]][] = [
  ['one a line', 'assert f(1) == 1\nassert f(2) == 2\n', ['assert f(1) == 1', 'assert f(2) == 2']],
  [
    'over several lines',
    'assert f([\n  1,\n  2,\n]) == 3\nassert f(1)',
    ['assert f([\n  1,\n  2,\n]) == 3', 'assert f(1)'],
  ],
  ['backslash continuation', 'assert f(1) == \\\n  2\n', ['assert f(1) == \\\n  2']],
  [
    'strings with brackets, hashes and the word assert',
    "assert f(\"(#\") == \"assert\"\nassert f('''\nassert x\n''') == 1",
    ['assert f("(#") == "assert"', "assert f('''\nassert x\n''') == 1"],
  ],
  [
    'trailing comments and semicolons',
    'assert f(1) == 2  # two\nassert f(2); assert f(3)',
    ['assert f(1) == 2', 'assert f(2)', 'assert f(3)'],
  ],
  ['inside a test function', 'def test():\n    """It\'s"""\n    assert f(1) == 1\n    return\n', ['assert f(1) == 1']],
  ['prose between', "Here (it's\nassert f(1) == 1\nasserting is good, don't\n", ['assert f(1) == 1']],
  ['an open bracket ends at the next assert', 'assert f([1, 2 == 3\nassert f(2) == 2', ['assert f(2) == 2']],
  ['an open string loses its own line', "assert f('a) == 1\nassert f(2) == 2", ['assert f(2) == 2']],
  ['cut off', 'assert f(1) == 1\nassert f([1, 2', ['assert f(1) == 1']],
  ['carriage returns', 'assert f(1)\r\nassert f(2)\rassert f(3)', ['assert f(1)', 'assert f(2)', 'assert f(3)']],
];
for (const [name, text, expected] of rows)
  test(`asserts: ${name}`, () => assert.deepEqual(splitAsserts(text), expected));

test('every statement is a part of the text, whatever the text', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('assert f(1)', 'assert f("""', "'", '(', ')', '\n', '#', '\\', ' ', 'x')),
      (parts) => {
        const text = parts.join('');
        for (const statement of splitAsserts(text))
          assert.ok(statement.startsWith('assert') && text.includes(statement));
      },
    ),
  );
});

test('5 MB are split in linear time', () => {
  for (const line of [
    'assert f(((\n',
    'assert f("""\n',
    "assert f('\n",
    'assert f(1) == 1\n',
    '('.repeat(1000),
    'x\n',
    ' \n',
    ' ',
  ]) {
    const took = cpuMs(() => {
      splitAsserts(`assert f(${line.repeat(Math.ceil(5_000_000 / line.length))}`);
    });
    assert.ok(took < 1500, JSON.stringify(line));
  }
});
