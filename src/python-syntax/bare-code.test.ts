import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bareCode } from './bare-code.ts';
import { cpuMs } from './cpu-ms.ts';
import { parsePython } from './parse-python.ts';

const rows: [name: string, source: string, expected: string][] = [
  ['nothing to take away', 'def f(x):\n    return x + 1.\n', 'def f(x):\n    return x + 1.\n'],
  ['a docstring', 'def f(x):\n    """Adds.\n    >>> f(1)\n    2\n    """\n    return x\n', 'def f(x):\n    return x\n'],
  ['a raw docstring in single quotes', "def f(x):\n    r'f(1) is 2'\n    return x\n", 'def f(x):\n    return x\n'],
  ['a joined docstring', 'def f(x):\n    "a" \'b\'\n    return x\n', 'def f(x):\n    return x\n'],
  ['a repeated docstring', 'def f(x):\n    """a"""\n    """b"""\n    return x\n', 'def f(x):\n    return x\n'],
  ['a module docstring', '"""f(1) is 2"""\nimport q\n', 'import q\n'],
  [
    'class and method',
    'class C:\n    """f(1)"""\n    x = 1\n    def g(self):\n        """f(2)"""\n        return 1\n',
    'class C:\n    x = 1\n    def g(self):\n        return 1\n',
  ],
  ['a body of a docstring', 'def f(x):\n    """f(1) is 2"""\n', 'def f(x):\n    pass\n'],
  ['a body on the line', 'def f(x): "f(1) is 2"\nclass C: "d"\n', 'def f(x): pass\nclass C: pass\n'],
  ['a body of two strings', 'def f(x):\n    "a"\n    "b"\n', 'def f(x):\n    pass\n'],
  ['a statement behind it', 'def f(x):\n    "a"; y = 1; "b"\n    return y\n', 'def f(x):\n    y = 1\n    return y\n'],
  ['a branch', 'if x:\n    "a"\nelse:\n    y = 1\n', 'if x:\n    pass\nelse:\n    y = 1\n'],
  [
    'comments',
    '#!x\n# f(1) == 2\ndef f(x):  # adds\n    # 2\n    return [\n        x,  # first\n        # last\n    ]\n    # end',
    'def f(x):\n    return [\n        x,\n    ]\n',
  ],
  ['a comment behind a docstring', 'def f(x):\n    """a"""  # b\n    return x\n', 'def f(x):\n    return x\n'],
  [
    'strings that are values',
    'A = "# f(1)"\ndef f(x="""d"""):\n    return "#" + A\n',
    'A = "# f(1)"\ndef f(x="""d"""):\n    return "#" + A\n',
  ],
  ['an f-string is run', 'def f(x):\n    f"{x()}"\n    return x\n', 'def f(x):\n    f"{x()}"\n    return x\n'],
  [
    'own trials',
    'def f(x):\n    return x\n\ndef test():\n    assert f(1) == 2\n\nif __name__ == "__main__":\n    assert f(1) == 2\n    print(f(2))\n',
    'def f(x):\n    return x\n\ndef test():\n    pass\n\n',
  ],
  [
    'asserts of its own that compute',
    'def f(x):\n    assert x > 0\n    assert f(x - 1) > 0\n    return x\n',
    'def f(x):\n    assert x > 0\n    assert f(x - 1) > 0\n    return x\n',
  ],
  [
    'a guard for something else',
    'if __name__ == "__main__":\n    main()\n',
    'if __name__ == "__main__":\n    main()\n',
  ],
  ['a broken program', 'def f(x):\n    """f(1)"""\n    return (\n', 'def f(x):\n    return (\n'],
];
for (const [name, source, expected] of rows)
  test(`bare code: ${name}`, () => {
    assert.equal(bareCode({ source, entryPoint: 'f' }), expected);
    assert.equal(bareCode({ source: expected, entryPoint: 'f' }), expected, 'nothing more to take away');
  });

test('a program without an entry point keeps what it runs', () => {
  const source = 'if __name__ == "__main__":\n    assert f(1) == 2\n';
  assert.equal(bareCode({ source, entryPoint: '' }), source);
});

test('good code stays good, hostile code costs bounded time', () => {
  const lines = fc.constantFrom(
    '"a"',
    '"""b\n  c"""',
    'x = 1',
    '# c',
    'y = "#"  # d',
    '"a"; x = 2',
    'x = [1, # e\n 2]',
    'assert f(1) == 2',
    'pass',
  );
  fc.assert(
    fc.property(fc.array(lines, { minLength: 1, maxLength: 6 }), fc.array(lines, { maxLength: 6 }), (body, rest) => {
      const source = `def g():\n${body.map((line) => `    ${line}\n`).join('')}    pass\n${rest.join('\n')}\n`;
      const bare = bareCode({ source, entryPoint: 'f' });
      assert.equal(parsePython(bare).hasErrors, false, bare);
      assert.deepEqual([...parsePython(bare).defines], [...parsePython(source).defines]);
      assert.doesNotMatch(bare, /[acde]"|# |f\(1\)/);
    }),
  );
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (source) => void bareCode({ source, entryPoint: 'f' })));
  for (const unit of ['# a\n', '"a"\n', '"a";', '(', 'if x:\n', 'assert f\n'])
    assert.ok(
      cpuMs(() => void bareCode({ source: unit.repeat(Math.floor(60_000 / unit.length)), entryPoint: 'f' })) < 4000,
      unit,
    );
});
