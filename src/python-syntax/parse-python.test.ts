import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cpuMs } from './cpu-ms.ts';
import { freeNamesIn, namesIn, parsePython } from './parse-python.ts';

const bindings: [source: string, names: string[]][] = [
  ['def f(x):\n    return x', ['f']],
  ['@lru_cache\ndef f(): pass\nasync def g(): pass\nclass C: pass', ['f', 'g', 'C']],
  ['import a.b, c as d\nfrom e import (f,  # why\n  g as h)\nfrom q import *', ['a', 'd', 'f', 'h']],
  ['x = y = 1\n(a, [b]), c = z\nn: int = 3\no.p = q[0] = 4', ['x', 'y', 'a', 'b', 'c', 'n']],
  ['try:\n  import q\nexcept ImportError:\n  q = None\nif q:\n  def f(): pass\nelse:\n  f = 1', ['q', 'f']],
  ['def f():\n  def inner(): pass\n  z = 1', ['f']],
];
for (const [source, names] of bindings)
  test(`binds ${names.join(', ')}`, () => assert.deepEqual([...parsePython(source).defines].sort(), [...names].sort()));

const implementations: [source: string, expected: 'body' | 'stub' | undefined][] = [
  ['def f(x):\n    return x', 'body'],
  ['async def f(x):\n    return x', 'body'],
  ['class f:\n    x = 1', 'body'],
  ['@cache\ndef f(x):\n    return x', 'body'],
  ['f = lambda n: 1 if n < 2 else n * f(n - 1)', 'body'],
  ['f = lru_cache(None)(lambda n: f(n - 1))', 'body'],
  ['f = g', 'body'],
  ['f = partial(g, 1)', 'body'],
  ['f = Solution().f', 'body'],
  ['if x:\n    def f(): return 1', 'body'],
  ['def f(): return 1\nf = cache(f)', 'body'],
  ['def f(): return 1\ndef f(): ...', 'body'],
  ['def f(x): ...', 'stub'],
  ['def f(x):\n    """Doc."""\n    # to do\n    pass; pass', 'stub'],
  ['def f(x):\n    raise NotImplementedError("later")', 'stub'],
  ['def f(x):\n    """Doc."""', 'stub'],
  ['def f(x):\n    raise ValueError(x)', 'body'],
  ['from solution import f', undefined],
  ['import f', undefined],
  ['from solution import g as f', undefined],
  ['try:\n    from solution import f\nexcept ImportError:\n    pass', undefined],
  ['f = f(1, 2)', undefined],
  ['f = sorted(f(1, 2))', undefined],
  ['f = cache(f)', undefined],
  ['f: int = f(1)', undefined],
  ['f: Callable', undefined],
  ['f = 5', undefined],
  ['f = [1, 2]', undefined],
  ['f += g', undefined],
  ['for f in g: pass', undefined],
  ['@pytest.fixture\ndef f():\n    return 1', undefined],
  ['@pytest.fixture(scope="module")\ndef f(): pass', undefined],
  ['class Solution:\n    def f(self): return 1', undefined],
];
for (const [source, expected] of implementations)
  test(`implementation of f in ${JSON.stringify(source)}: ${expected}`, () =>
    assert.equal(parsePython(source).implements.get('f'), expected));

const errors: [source: string, hasErrors: boolean][] = [
  ['def f():\n    return 1.\n', false],
  ['def f():\n    # nothing\n', true],
  ['def f():\n    return (1', true],
  ["x = 'abc\n", true],
  ['x = """abc\n', true],
  ['x = rb"abc"; y = f"{x!r:>{w}}"', false],
  ['print "x"', true],
  ['return 1', true],
  ['def f(x): return x', false],
  ['Here is the code:', true],
  ['match x:\n  case [1, *_]:\n    pass', false],
];
for (const [source, hasErrors] of errors)
  test(`${hasErrors ? 'errors' : 'no errors'} in ${JSON.stringify(source)}`, () =>
    assert.equal(parsePython(source).hasErrors, hasErrors));

test('errors belong to their statement', () => {
  const { statements } = parsePython('def f():\n    return (1\n\ndef g():\n    return 2\n');
  assert.deepEqual(
    statements.map(({ defines, hasErrors }) => [defines[0], hasErrors]),
    [
      ['f', true],
      ['g', false],
    ],
  );
});

test('names read and bound', () => assert.deepEqual([...namesIn('def f(x):\n  return g(x).h')], ['f', 'x', 'g']));

test('free names: neither keywords of calls nor targets of comprehensions', () => {
  const free = (source: string) => [...freeNamesIn(source)];
  assert.deepEqual(free('def f(x, *rest, k=1):\n  return sorted(x, key=g, reverse=reverse)'), [
    'sorted',
    'g',
    'reverse',
  ]);
  assert.deepEqual(free('r = [a + b for a, (b, c), d in s for e in a]'), ['s']);
  assert.deepEqual(free('with open(p) as q:\n  pass\ntry:\n  pass\nexcept E as e:\n  e'), ['open', 'p', 'E']);
});

test('a source too long to parse is skimmed', () => {
  const { parsed, defines } = parsePython(`def f(): pass\n${'# '.repeat(50_000)}\nclass C: pass\n`);
  assert.deepEqual([parsed, ...defines], [false, 'f', 'C']);
});

test('hostile sources neither throw nor take long', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parsePython(text)));
  for (const text of ['(', 'a b ', '"', "f'{", 'if x:\n', '\ud800', 'import ']) {
    const took = cpuMs(() => {
      parsePython(text.repeat(Math.floor(60_000 / text.length)));
      parsePython(text.repeat(500_000));
    });
    assert.ok(took < 4000, text);
  }
});
