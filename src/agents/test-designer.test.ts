import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplyKind } from '../models/model.ts';
import type { Problem } from '../problems/problem.ts';
import { cpuMs } from '../python-syntax/cpu-ms.ts';
import { DESIGNER_QUERIES, readTests, testDesignerPrompt } from './test-designer.ts';

const problem: Problem = {
  taskId: 'MBPP/1',
  kind: 'function',
  entryPoint: 'f',
  form: 'description',
  statement: 'Write f.',
  preamble: '',
  visibleTests: [{ kind: 'assert', source: 'assert f([1, 2]) == 3' }],
};
const stdio: Problem = {
  ...problem,
  kind: 'stdio',
  entryPoint: '',
  visibleTests: [{ kind: 'stdio', stdin: '1\n', stdout: '2\n' }],
};

function read(text: string, options: { of?: Problem; kind?: ReplyKind; count?: number } = {}) {
  const { of = problem, kind = 'ok', count } = options;
  const result = readTests({ reply: { kind, text, reasoning: '', finishReason: 'stop' }, problem: of, count });
  return result.kind === 'tests'
    ? result.tests.map((found) => (found.kind === 'assert' ? found.source : [found.stdin, found.stdout]))
    : result.reason;
}

test('no two queries ask the same, so that temperature 0.1 gives different tests', () => {
  const prompts = Array.from({ length: 2 * DESIGNER_QUERIES }, (_, query) =>
    testDesignerPrompt({ problem, query, count: 10 }),
  );
  assert.equal(new Set(prompts.map(({ messages }) => messages[1]?.content)).size, 2 * DESIGNER_QUERIES);
  assert.equal(new Set(prompts.map(({ version }) => version)).size, 2 * DESIGNER_QUERIES);
  assert.equal(prompts[0]?.temperature, 0.1);
});

const replies: [name: string, text: string, expected: unknown, options?: Parameters<typeof read>[1]][] = [
  ['a block', '```python\nassert f([1]) == 1\nassert f([2]) == 2\n```', ['assert f([1]) == 1', 'assert f([2]) == 2']],
  [
    'a list with numbers and backticks',
    '1. `assert f([1]) == 1`\n2. assert f("`") == 2\n- assert not f([3])',
    ['assert f([1]) == 1', 'assert f("`") == 2', 'assert not f([3])'],
  ],
  [
    'a test function',
    'def test_f():\n    assert f([1]) == 1  # one\n    assert f(\n        [2]\n    ) == 2',
    ['assert f([1]) == 1', 'assert f(\n        [2]\n    ) == 2'],
  ],
  [
    'doubles and contradictions: the first counts',
    'assert f([1]) == 1\nassert f([1])==1\nassert f( [1] ) == 5',
    ['assert f([1]) == 1'],
  ],
  [
    'visible tests are never run as designed ones',
    'assert f([1,2]) == 3\nassert f([1, 2]) == 4\nassert f([5]) == 5',
    ['assert f([5]) == 5'],
  ],
  [
    'what is no assert on the entry point',
    "assert g(1) == 1\nassert True\nassert f(3\nassert f('x) == 1\nprint(f(1))\nassert f([6]) == 6",
    ['assert f([6]) == 6'],
  ],
  [
    'at most the count',
    'assert f(1) == 1\nassert f(2) == 2\nassert f(3) == 3',
    ['assert f(1) == 1', 'assert f(2) == 2'],
    { count: 2 },
  ],
  [
    'cut off: the last test may be half a value',
    'assert f(1) == 1\nassert f(2) == 1',
    ['assert f(1) == 1'],
    { kind: 'truncated' },
  ],
  [
    'cut off behind a closed block',
    '```\nassert f(1) == 1\nassert f(2) == 12\n```\nThese',
    ['assert f(1) == 1', 'assert f(2) == 12'],
    { kind: 'truncated' },
  ],
  ['nothing', 'I cannot.', 'no_answer'],
  ['nothing whole', 'assert f(', 'truncated', { kind: 'truncated' }],
  [
    'stdio',
    '<test>\n<input>\n5\n6\n</input>\n<output>\n11\n</output>\n</test>\n<test><input>1\n</input><output>2</output></test>\n<test><input>9',
    [['5\n6\n', '11\n']],
    { of: stdio },
  ],
];
for (const [name, text, expected, options] of replies)
  test(`designed tests: ${name}`, () => assert.deepEqual(read(text, options), expected));

/** Spellings of calls that a visible test makes: none may come back as a designed test. */
const visibleCall = "assert f((3, 4), 'a') == 7";
const signature = 'def f(pair, text, *, times=1):\n    """Joins."""\n';
const same: [expression: string, withSignatureOnly?: true][] = [
  ['f((3, 4), "a") == 8'],
  ['set(f((3,4), "a")) == {7}'],
  ['sorted(f((3, 4), "a")) == [7]'],
  ['f((3, 4,), "a",) == 8'],
  ['f(((3), (4)), ("a")) == 8'],
  ['(f)((3, 4), """a""") == 8'],
  ['f((0x3, 4), u"a") == 8'],
  ['f(*[(3, 4), "a"]) == 8'],
  ['f((3, 4), # pair\n  "a") == 8'],
  ['f(f((3, 4), "a"), "b") == 8'],
  ['f((5, 6), "a") == f((3, 4), "a")'],
  ['8 == len(f((3, 4), "a"))'],
  ['abs(f((3, 4), "a") - 7) < 1e-6'],
  ['isinstance(f((3, 4), "a"), int)'],
  ['not f((3, 4), "a")'],
  ['f(pair=(3, 4), text="a") == 8', true],
  ['f(text="a", pair=(3, 4)) == 8', true],
  ['f((3, 4), text="a", times=1) == 8', true],
];
const others = [
  'f((3, 4), "b") == 8',
  'f([3, 4], "a") == 8',
  'f((3, 4), "a ") == 8',
  'f((3, 4), "a", times=2) == 8',
  'f(pair=(4, 3), text="a") == 8',
  'f((3, 4), b"a") == 8',
  'f((3, 4), "a" + "") == 8',
  'f((3.0, 4), "a") == 8',
  'f(((3, 4),), "a") == 8',
];
for (const form of ['description', 'completion'] as const) {
  const of: Problem = {
    ...problem,
    form,
    statement: form === 'completion' ? signature : 'Write f.',
    visibleTests: [{ kind: 'assert', source: visibleCall }],
  };
  for (const [expression, withSignatureOnly] of same)
    test(`the input of a visible test (${form}): ${expression}`, () => {
      const dropped = form === 'completion' || withSignatureOnly === undefined;
      const source = `assert ${expression}`;
      assert.deepEqual(read(`${source}\nassert f(0) == 0`, { of }), [...(dropped ? [] : [source]), 'assert f(0) == 0']);
    });
  for (const expression of others)
    test(`another input than a visible test (${form}): ${expression}`, () =>
      assert.deepEqual(read(`assert ${expression}`, { of }), [`assert ${expression}`]));
}

test('keywords in another order make no other input', () =>
  assert.deepEqual(read('assert f(a=1, b=2) == 3\nassert f(b=2, a=1) == 4'), ['assert f(a=1, b=2) == 3']));

test('deep nesting is read without exhausting the stack', () => {
  const deep = `assert f(${'('.repeat(25_000)}1${')'.repeat(25_000)}) == 1`;
  const of: Problem = { ...problem, visibleTests: [{ kind: 'assert', source: deep }] };
  assert.deepEqual(read(`assert f(2) == 2`, { of }), ['assert f(2) == 2']);
});

test('1 MB of asserts are read in bounded time', () => {
  const took = cpuMs(() => {
    read('assert f([1]) == 1\n'.repeat(50_000), { count: 10 });
    read('assert f([\n'.repeat(90_000));
    read(`assert f(${'['.repeat(1_000_000)}`);
  });
  assert.ok(took < 4000);
});
