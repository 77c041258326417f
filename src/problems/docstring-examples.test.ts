import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { docstringExamples } from './docstring-examples.ts';

/** Examples of `def f(<parameters>)` with that docstring. */
const examples = (docstring: string, parameters = 'x', before = '') =>
  docstringExamples({
    statement: `${before}def f(${parameters}):\n    """${docstring}\n    """\n`,
    entryPoint: 'f',
  }).map((source) => source.replace(/^assert /, ''));

const TABLE: [string, string, string[], string?][] = [
  ['a doctest', '>>> f(1)\n    2', ['f(1) == 2']],
  [
    'doctests in a row, with prose behind',
    '>>> f(1)\n    2\n    >>> f(2)\n    3\n\n    Note 4.',
    ['f(1) == 2', 'f(2) == 3'],
  ],
  ['an output of two lines', '>>> f(1)\n    ["a",\n     "b"]\n', ['f(1) == ["a", "b"]']],
  [
    'a doctest around the call, with a comment',
    '>>> round(f([1, 2]), 2) # about\n    -0.5',
    ['round(f([1, 2]), 2) == -0.5'],
  ],
  ['a doctest that compares', '>>> f(1) == 2\n    >>> f(2) == 3\n    True', ['f(1) == 2', 'f(2) == 3']],
  ['a doctest that compares and is false', '>>> f(1) == 2\n    False', []],
  ['a doctest without its operator', '>>> f([1]) [0, 1]', ['f([1]) == [0, 1]']],
  [
    'no output is None, where the text speaks of None',
    'None if empty.\n    >>> f([])\n\n    >>> f([1])\n    1',
    ['f([]) == None', 'f([1]) == 1'],
  ],
  ['no output otherwise is no example', '>>> f([])\n\n    Done.', []],
  ['an escape stays an escape', '>>> f("a\\nb")\n    \'b\\na\'', ['f("a\\nb") == \'b\\na\'']],
  ['a traceback is no value', '>>> f(1)\n    Traceback (most recent call last):', []],
  ['a doctest with a variable', '>>> x = 1\n    >>> f(x)\n    2', []],
  [
    'equations and arrows',
    'f(1) == 2\n    f(2) => 3\n    f(3) ==> 4\n    f(4) -> 5\n    f(5) ➞ 6\n    f(6) = 7\n    f(7)==>8',
    ['f(1) == 2', 'f(2) == 3', 'f(3) == 4', 'f(4) == 5', 'f(5) == 6', 'f(6) == 7', 'f(7) == 8'],
  ],
  [
    'words',
    'f(1) returns 2 # since\n    f(2) should return 3.\n    f(3)  # returns "x"\n    f(4) # => \'No\' (because)',
    ['f(1) == 2', 'f(2) == 3', 'f(3) == "x"', "f(4) == 'No'"],
  ],
  [
    'a sentence with two',
    'Say f("14.5") should\n    return 15 and f("-14.5") should return -15.',
    ['f("14.5") == 15', 'f("-14.5") == -15'],
  ],
  [
    'bullets and "for"',
    '* f([]) => []\n    for f(7) == 34\n    assert f(8) => 35',
    ['f([]) == []', 'f(7) == 34', 'f(8) == 35'],
  ],
  ['chains end in their result', 'f(1) ->19 - 5 - 6 = 8\n    f(2) == 1 + 9 = 10', ['f(1) == 8', 'f(2) == 10']],
  ['an unfinished chain', 'f(1) == 2 + y\n    f(2) == 3 and more', []],
  ['lower-case truth', 'f(1) => true\n    f(2) => false', ['f(1) == True', 'f(2) == False']],
  ['a call over several lines', 'f([\n      [1,2],\n      [3]\n    ]) == [(0, 0)]', ['f([ [1,2], [3] ]) == [(0, 0)]']],
  ['bare words are strings, parameters are not', 'f(aabb) => False\n    f(x) => True', ["f('aabb') == False"]],
  ['a stray quote', 'f("a") == ""a"', []],
  ['wrong arity', 'f(1, 2) == 3\n    f() == 3\n    f(1) == 3', ['f(1) == 3']],
  [
    'defaults, keywords and *args',
    'f(1) == 1\n    f(1, 2, 3) == 2\n    f(1, key=3) == 3\n    f(1, other=3) == 4',
    ['f(1) == 1', 'f(1, 2, 3) == 2', 'f(1, key=3) == 3'],
    'a, b=2, *more, key=None',
  ],
  [
    'For … the output should be',
    'For s = "abcde", c = "ae", the result should be (\'bcd\',False)\n    For N = 1, the sum will be 1 the output should be "1".',
    ['f("abcde", "ae") == (\'bcd\',False)'],
    's, c',
  ],
  [
    'Input and Output on their lines',
    'Input:\n      grid : [[0,1], [1]]\n      bucket_capacity : 1\n    Output: 6 # six',
    ['f([[0,1], [1]], 1) == 6'],
    'grid, capacity',
  ],
  [
    'Input and Output by name, in another order',
    'Input: k = 3, arr = [-3, 4]\n    Output: [4]',
    ['f([-3, 4], 3) == [4]'],
    'arr, k',
  ],
  [
    'assignments and return',
    'arr = [2, 1]   \n      -> sort arr -> [1, 2]\n      return ["Two"]\n    arr = []\n    return = []',
    ['f([2, 1]) == ["Two"]', 'f([]) == []'],
    'arr',
  ],
  ['another function’s name, when there is nothing else', 'old_name([4.0]) ==> [1]', ['f([4.0]) == [1]']],
  ['another function’s name beside the own one', 'old_name([4.0]) ==> [1]\n    f(2) ==> 3', ['f(2) == 3']],
  ['a helper’s examples', 'g(4) == 1', []],
  [
    'a recurrence under the same name',
    'f(1) = 3\n    f(3) = f(2) + f(1)\n    Examples:\n    f(3) = [1, 3]',
    ['f(3) == [1, 3]'],
  ],
  ['the same example twice', 'f(1) == 2\n    >>> f(1)\n    2', ['f(1) == 2']],
  ['a longer name, an attribute', 'xf(1) == 2\n    y.f(1) == 3\n    ff(1) == 4\n    f(5) == 6', ['f(5) == 6']],
  ['prose alone', 'If x is empty, f returns None. f(x) returns the sum.', []],
];

for (const [what, docstring, expected, parameters] of TABLE) {
  test(what, () => {
    const helper = what.startsWith('a helper') ? 'def g(x):\n    return x\n\n' : '';
    assert.deepEqual(examples(docstring, parameters, helper), expected);
  });
}

test('only the entry point’s own docstring counts', () => {
  const statement =
    'def g(x):\n    """\n    >>> g(1)\n    2\n    """\n    return x\n\ndef f(x):\n    import math\n    \'\'\'f(2) == 3\'\'\'\n';
  assert.deepEqual(docstringExamples({ statement, entryPoint: 'f' }), ['assert f(2) == 3']);
  assert.deepEqual(docstringExamples({ statement, entryPoint: 'missing' }), []);
});

test('whatever the docstring, it ends, and every piece of an example stands in it', () => {
  const piece = fc.constantFrom(
    'f(',
    ')',
    '[',
    ']',
    '{',
    '"',
    "'",
    '1',
    '2.5',
    ' == ',
    ' -> ',
    '>>> ',
    '\n    ',
    'x',
    ', ',
    'returns ',
    'Input: ',
    'Output: ',
    'For ',
    '=',
    'true',
    '\\',
    '-',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const docstring = pieces.join('');
      for (const example of examples(docstring)) {
        const words = example.match(/[\w.]+/g) ?? [];
        for (const word of words)
          assert.ok(
            docstring.includes(word) || docstring.includes(word.toLowerCase()) || word === 'f',
            `${word} of ${example} in ${docstring}`,
          );
      }
    }),
    { numRuns: 300 },
  );
});

test('a hostile docstring takes no time', () => {
  const started = performance.now();
  for (const text of [
    'f('.repeat(500_000),
    `f(${'['.repeat(1_000_000)}`,
    ' '.repeat(1_000_000),
    `>>> f(1)\n${'x\n'.repeat(300_000)}`,
    'Input: '.repeat(200_000),
  ])
    examples(text);
  assert.ok(performance.now() - started < 10_000, `${performance.now() - started} ms`);
});
