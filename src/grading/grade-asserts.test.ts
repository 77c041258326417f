import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { TEST_LIMITS, testSandbox, withoutDocker } from '../sandbox/testing.ts';
import { gradeAsserts } from './grade-asserts.ts';
import type { TestResult } from './verdict.ts';

describe('assert-style tests are replayed over recorded outputs', { skip: withoutDocker }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await testSandbox();
  });
  after(() => sandbox.close());

  const grade = async (program: string, tests: string[], setup = ''): Promise<TestResult[]> => {
    const [results] = await gradeAsserts({
      sandbox,
      programs: [program],
      entryPoint: 'f',
      setup,
      tests,
      trust: 'model',
      limits: TEST_LIMITS,
    });
    assert.ok(results);
    return results;
  };
  const statuses = async (program: string, tests: string[], setup = '') =>
    (await grade(program, tests, setup)).map(({ status, forgeable }) =>
      forgeable === true ? `${status}, forgeable` : status,
    );

  test('a failed comparison shows both sides, whichever side the call is on', async () => {
    const results = await grade('def f(x):\n  return [x]', [
      'assert f(1) == [1]',
      'assert f(1) == (1,)',
      'assert [2] == f(1), "no"',
    ]);
    assert.deepEqual(results, [
      { status: 'pass', test: 'assert f(1) == [1]' },
      { status: 'fail', test: 'assert f(1) == (1,)', actual: '[1]', expected: '(1,)' },
      { status: 'fail', test: 'assert [2] == f(1)', actual: '[1]', expected: '[2]' },
    ]);
  });

  test('every shape of assertion keeps its own operator', async () => {
    const tests = [
      'assert f(1)',
      'assert not f(0)',
      'assert f(0.1) + 0.2 != 0.3',
      'assert abs(f(0.1) + 0.2 - 0.3) < 1e-9',
      'assert math.isclose(f(1.0), 1.0 + 1e-12)',
      'assert set(f([1, 2, 2])) == {1, 2}',
      'assert f({"a": 1, "b": 2}) == {"b": 2, "a": 1}',
      'assert f(x=3) == 3 and f(4) == 4',
      'for i in range(3):\n    assert f(i) == i',
      'assert all(f(n) == n for n in [1, 2])',
      'assert 1 <= f(2) <= 3',
      'assert f(None) is None',
      'assert isinstance(f((1, 2)), tuple)',
      'result = f("é\\ud800")\nassert result == "é\\ud800"',
      'assert f(f(f(7))) == 7',
      'assert len(str(f(3))) == 1',
    ];
    assert.deepEqual(
      await statuses('def f(x):\n  return x', tests),
      tests.map(() => 'pass'),
    );
    const wrong = await statuses('def f(x):\n  return 5', tests);
    assert.deepEqual(wrong.filter((status) => status === 'pass').length, 3, wrong.join());
  });

  test('exceptions can be caught by the test under their builtin base', async () => {
    const raises = 'class Mine(ValueError):\n  pass\ndef f(x):\n  if x < 0:\n    raise Mine("negative")\n  return x';
    const results = await grade(raises, [
      'try:\n    f(-1)\n    assert False\nexcept ValueError as error:\n    assert "neg" in str(error)',
      'assert f(-1) == 1',
      'try:\n    f(-1)\nexcept KeyError:\n    pass',
    ]);
    assert.deepEqual(
      results.map((result) => [result.status, result.exception]),
      [
        ['pass', undefined],
        ['error', 'Mine: negative (line 5)'],
        ['error', 'Mine: negative (line 5)'],
      ],
    );
  });

  test('a program that cannot be loaded passes nothing, whatever the test catches', async () => {
    const tests = ['try:\n    f(1)\nexcept BaseException:\n    pass', 'assert f(1) == 1'];
    for (const program of ['def f(x:\n', 'raise SystemExit(0)', 'g = 1', 'import os\nos._exit(0)', 'f = 3']) {
      assert.deepEqual(await statuses(program, tests), ['error', 'error'], program);
    }
  });

  test('a program that hangs is a timeout, also inside a test that catches everything', async () => {
    const tests = ['try:\n    f(1)\nexcept BaseException:\n    pass', 'assert f(2) == 2'];
    assert.deepEqual(await statuses('def f(x):\n  while x == 1:\n    pass\n  return x', tests), ['timeout', 'pass']);
  });

  test('values that only their own program can judge never pass a comparison', async () => {
    const everything = `
class All:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __sub__(self, other): return 0
    def __iter__(self): return iter([1, 2])
    def __len__(self): return 2
    def __getattr__(self, name): return self
    def __hash__(self): return 1
`;
    const tests = [
      'assert f(1) == 1',
      'assert abs(f(1) - 1) < 1e-6',
      'assert list(f(1)) == [1, 2]',
      'assert len(f(1)) == 2',
      'assert f(1) in (1, 2)',
    ];
    for (const kind of ['', '(int)', '(str)', '(list)', '(float)', '(dict)']) {
      const program = `${everything.replace('All:', `All${kind}:`)}def f(x):\n    return All()\n`;
      const found = await statuses(program, tests);
      assert.ok(
        found.every((status) => status === 'fail' || status === 'error'),
        `${kind}: ${found.join()}`,
      );
    }
  });

  test('programs that reach for the verdict get none', async () => {
    const cheats = {
      'leaves early': 'import os\ndef f(x):\n  os._exit(0)',
      'raises SystemExit': 'def f(x):\n  raise SystemExit(0)',
      'prints PASSED': 'def f(x):\n  print("PASSED\\n1 passed in 0.01s")\n  return None',
      'patches what compares':
        'import builtins\nbuiltins.AssertionError = ValueError\nbuiltins.all = lambda x: True\ndef f(x):\n  return 0',
      'returns one constant': 'def f(x):\n  return 1',
      'walks the frames': `import sys
def f(x):
  frame = sys._getframe()
  while frame:
    for name, value in list(frame.f_locals.items()) + list(frame.f_globals.items()):
      if name in ("expected", "exp", "results"):
        return value
      if isinstance(value, list):
        value.append("passed")
    frame = frame.f_back`,
      'writes to every descriptor': `import os, json
def f(x):
  row = b"49"
  for fd in range(3, 64):
    try:
      os.write(fd, b"V" + len(row).to_bytes(4, "big") + row)
    except OSError:
      pass
  return -1`,
    };
    for (const [name, program] of Object.entries(cheats)) {
      const found = await statuses(program, ['assert f(7) == 49', 'assert f(9) == 81']);
      assert.ok(!(found[0] === 'pass' && found[1] === 'pass'), `${name}: ${found.join()}`);
      assert.notEqual(found[1], 'pass', `${name}: ${found.join()}`);
    }
  });

  test('unusable tests are named and leave the others alone', async () => {
    const results = await grade('def f(x):\n  return x', [
      'assert f(1 == 1',
      'assert 1 == 1',
      'assert f(1) == 1',
      'while True:\n    pass',
      'x = 9 ** 9 ** 9\nassert f(1) == 1',
      'import os\nos._exit(0)\nassert f(1) == 1',
      'raise ValueError("before any call")',
    ]);
    assert.deepEqual(
      results.map((result) => result.status),
      ['invalid_test', 'invalid_test', 'pass', 'invalid_test', 'invalid_test', 'invalid_test', 'invalid_test'],
    );
    assert.match(results[1]?.exception ?? '', /never calls f/);
  });

  test('tests that need more than values run in the program, and say that they can be forged', async () => {
    const program =
      'class Node:\n  def __init__(self, v):\n    self.v = v\ndef f(x):\n  if isinstance(x, list):\n    x.sort()\n  return x';
    const tests = [
      'assert f(Node(1)).v == 1',
      'data = [2, 1]\nf(data)\nassert data == [1, 2]',
      'data = [2, 1]\nf(data)\nassert data == [2, 1]',
      'assert f(lambda: 3)() == 3',
      'assert f(Missing(1)) == 1',
    ];
    assert.deepEqual(await statuses(program, tests), [
      'pass, forgeable',
      'pass, forgeable',
      'fail, forgeable',
      'pass, forgeable',
      'error, forgeable',
    ]);
  });

  test('a test that names a class that the program lacks, where nothing has reached it yet, is no verdict by replay', async () => {
    const tests = ['try:\n    f(-1)\n    assert False\nexcept Mine:\n    pass'];
    const raises = 'class Mine(Exception):\n  pass\ndef f(x):\n  raise Mine(x)';
    assert.deepEqual(await statuses(raises, tests), ['pass, forgeable']);
    assert.deepEqual(await statuses('def f(x):\n  raise ValueError(x)', tests), ['error, forgeable']);
  });

  test('results that are fed back are replayed, ten calls deep; beyond, the test runs in the program', async () => {
    const program = 'def f(n):\n  return n // 2 if n % 2 == 0 else 3 * n + 1';
    const loop = (times: number, want: number) =>
      `x = 27\nfor _ in range(${times}):\n    x = f(x)\nassert x == ${want}`;
    const tests = [
      loop(8, 142),
      loop(8, 143),
      loop(11, 107),
      'assert f(f(f(f(f(f(8)))))) == 1',
      'n = 6\nwhile n != 1:\n    n = f(n)\nassert n == 1',
      'n = 6\nwhile int(n) != 1:\n    n = f(int(n))\nassert n == 1',
      'i = 1\nwhile f(i) != 40:\n    i += 1\nassert i == 13',
      'i = 1\nwhile not f(i) > 36:\n    i += 1\nassert i == 13',
    ];
    assert.deepEqual(await statuses(program, tests), [
      'pass',
      'fail',
      'pass, forgeable',
      'pass',
      'pass, forgeable',
      'pass, forgeable',
      'pass, forgeable',
      'pass, forgeable',
    ]);
  });

  test('with a canonical solution no program chooses to be graded in its own process', async () => {
    const canonical = 'def f(x):\n  return x > 2 or x < 0';
    const tests = ['i = 0\nwhile not f(i):\n    i += 1\nassert i == 3', 'assert f(f(3)) == False'];
    const search = 'def f(x):\n  return x > 40 or x < 0';
    const hidden = 'class Hidden:\n  def __index__(s): return 3\n  def __gt__(s, o): return True\n';
    const objects = `${hidden}def f(x):\n  return False if type(x) is Hidden else Hidden()`;
    const [right, late, opaque] = await gradeAsserts({
      sandbox,
      programs: [canonical, search, objects],
      entryPoint: 'f',
      setup: '',
      tests,
      canonical,
      trust: 'benchmark',
      limits: TEST_LIMITS,
    });
    const shape = (results: TestResult[] | undefined) => results?.map(({ status, forgeable }) => [status, forgeable]);
    assert.deepEqual(shape(right), [
      ['pass', undefined],
      ['pass', undefined],
    ]);
    assert.deepEqual(shape(late)?.[0], ['error', undefined]);
    assert.deepEqual(shape(opaque)?.[1], ['error', undefined]);
    assert.notEqual(opaque?.[0]?.status, 'pass');
  });

  test('a test that the canonical solution passes only in its process is graded there for every program', async () => {
    const canonical =
      'class P:\n  def __init__(s, x): s.x = x\n  def __eq__(s, o): return o == s.x\ndef f(x):\n  return P(x)';
    const grades = await gradeAsserts({
      sandbox,
      programs: [canonical, 'def f(x):\n  return x', 'def f(x):\n  return 0'],
      entryPoint: 'f',
      setup: '',
      tests: ['assert f(3) == 3'],
      canonical,
      trust: 'benchmark',
    });
    assert.deepEqual(
      grades.map(([result]) => [result?.status, result?.forgeable]),
      [
        ['pass', true],
        ['pass', true],
        ['fail', true],
      ],
    );
  });

  test('an object of the program that is handed on decides nothing by being handed on', async () => {
    const program = 'class O: pass\ndef f(x):\n  return O() if x == 1 else 5';
    assert.deepEqual(await statuses(program, ['assert f(f(1)) == 3']), ['fail, forgeable']);
  });

  const library: [what: string, program: string, test: string][] = [
    [
      'deque',
      'from collections import deque\ndef f(x): return deque(reversed(x), 9)',
      'assert f([1, 2]) == deque([2, 1]) and f([1, 2]).__len__() == 2',
    ],
    ['types', 'def f(x): return type(x)', 'assert f(1) == int and f(1) is int and f(None) is type(None)'],
    ['functions', 'def f(x): return lambda: x', 'assert callable(f(1))'],
    [
      'endless generator',
      'def f():\n  n = 0\n  while True:\n    yield n\n    n += 1',
      'assert list(itertools.islice(f(), 3)) == [0, 1, 2]',
    ],
    [
      'endless count',
      'import itertools\ndef f(): return itertools.count(5)',
      'g = f()\nassert (next(g), next(g)) == (5, 6)',
    ],
    ['generator type', 'def f(): yield 1', 'import types\nassert isinstance(f(), types.GeneratorType)'],
    [
      'itertools',
      'from itertools import *\ndef f(x): return combinations_with_replacement(x, 2)',
      'assert list(f([1, 2])) == [(1, 1), (1, 2), (2, 2)]',
    ],
    ['async', 'async def f(x): return x + 1', 'import asyncio\nassert asyncio.run(f(3)) == 4'],
    [
      'async inside async',
      'import asyncio\nasync def f(x):\n  await asyncio.sleep(0)\n  return x + 1',
      'import asyncio\nasync def main():\n    return sum(await asyncio.gather(f(1), f(2)))\nassert asyncio.run(main()) == 5',
    ],
    [
      'JSONDecodeError',
      'import json\ndef f(x): return json.loads(x)',
      'try:\n    f("{")\n    assert False\nexcept json.JSONDecodeError as e:\n    assert e.pos == 1',
    ],
    [
      'StatisticsError',
      'import statistics\ndef f(x): return statistics.mean(x)',
      'try:\n    f([])\n    assert False\nexcept statistics.StatisticsError:\n    pass',
    ],
    [
      'UnicodeDecodeError',
      'def f(x): return x.decode()',
      'try:\n    f(b"\\xff")\n    assert False\nexcept UnicodeDecodeError as e:\n    assert e.start == 0',
    ],
    [
      'text of a KeyError',
      'def f(x): return {}[x]',
      'try:\n    f("x")\n    assert False\nexcept KeyError as e:\n    assert str(e) == "\'x\'" and e.args == ("x",)',
    ],
    [
      'errno',
      'def f(x): return open(x)',
      'try:\n    f("/none")\n    assert False\nexcept OSError as e:\n    assert e.errno == 2 and "/none" in str(e)',
    ],
    [
      'own exception',
      'class Mine(ValueError):\n  def __init__(s, code):\n    s.code = code\n    super().__init__("code %d" % code)\ndef f(x): raise Mine(x)',
      'try:\n    f(7)\n    assert False\nexcept ValueError as e:\n    assert type(e).__name__ == "Mine" and e.code == 7 and str(e) == "code 7"',
    ],
  ];
  for (const [what, program, source] of library) {
    test(`replay knows ${what}`, async () => {
      assert.deepEqual(await statuses(program, [source]), ['pass']);
      assert.notEqual((await statuses('def f(*args):\n  return 0', [source]))[0], 'pass');
    });
  }

  test('time in a judge is CPU time', async () => {
    const waits = 'import time\ntime.sleep(2.5)\nassert f(1) == 1';
    const burns = 'import time\nwhile time.process_time() < 9:\n    pass\nassert f(1) == 1';
    assert.deepEqual(await statuses('def f(x):\n  return x', [waits, burns]), ['pass', 'invalid_test']);
  });

  test('tests in a program end after its first crash too', async () => {
    const [results] = await gradeAsserts({
      sandbox,
      programs: ['import os\nclass P: pass\ndef f(x):\n  os._exit(0)'],
      entryPoint: 'f',
      setup: '',
      tests: ['assert f(P()) == 1', 'assert f(P()) == 2'],
      trust: 'model',
      stopAfter: 1,
    });
    assert.deepEqual(
      results?.map(({ status }) => status),
      ['error', 'not_run'],
    );
  });

  test('a benchmark whose judge fails is the machine’s failure, a model’s test is its own', async () => {
    for (const reason of ['timeout', 'memory_limit', 'crash'] as const) {
      const failing: Sandbox = { ...sandbox, runJudge: async () => ({ kind: 'failed', reason, detail: '' }) };
      const job = {
        sandbox: failing,
        programs: ['def f(x): return x'],
        entryPoint: 'f',
        setup: '',
        tests: ['assert f(1)'],
      };
      await assert.rejects(gradeAsserts({ ...job, trust: 'benchmark' }), SandboxError);
      const [results] = await gradeAsserts({ ...job, trust: 'model' });
      assert.equal(results?.[0]?.status, 'invalid_test');
    }
  });

  test('a test that does not change its argument again needs no such trust', async () => {
    const tests = [
      'data = [2, 1]\nwant = sorted(data)\nassert f(data) == want',
      'for case, want in [([1], [1])]:\n    assert f(case) == want',
    ];
    assert.deepEqual(await statuses('def f(x):\n  return sorted(x)', tests), ['pass', 'pass']);
  });

  test('entry points may have any name, the judge’s own included', async () => {
    for (const entryPoint of ['check', 'candidate', 'main', 'json', 'state', 'stub', '_']) {
      const [results] = await gradeAsserts({
        sandbox,
        programs: [`def ${entryPoint}(x):\n  return x`],
        entryPoint,
        setup: '',
        tests: [`assert ${entryPoint}(1) == 1`, `assert ${entryPoint}(1) == 2`],
        trust: 'model',
      });
      assert.deepEqual(
        results?.map((result) => result.status),
        ['pass', 'fail'],
        entryPoint,
      );
    }
  });

  test('a setup that fails after its own call fails the test, and one that calls and goes on does not decide it', async () => {
    const one = 'def f(x):\n  return 1';
    assert.deepEqual(await statuses(one, ['assert f(1) == 1'], 'y = f(7)\nraise ValueError'), ['error']);
    assert.deepEqual(await statuses(one, ['assert f(1) == 1', 'assert f(1) == y + 1'], 'y = f(7)'), ['pass', 'fail']);
  });

  test('a literal that is nested too deep for a value takes no other test along', async () => {
    const deep = `${'['.repeat(120)}${']'.repeat(120)}`;
    const [, other] = await statuses('def f(x):\n  return x', [`assert f(1) == ${deep}`, 'assert f(1) == 1']);
    assert.equal(other, 'pass');
  });

  test('a huge integer is compared and reported', async () => {
    const [result] = await grade('import math\ndef f(x):\n  return math.factorial(x)', ['assert f(5000) == 1']);
    assert.equal(result?.status, 'fail');
    assert.ok((result?.actual ?? '').length > 20);
    assert.ok((result?.actual ?? '').length <= 200);
  });

  test('no tests and no programs give empty results', async () => {
    assert.deepEqual(await grade('def f(x):\n  return x', []), []);
    assert.deepEqual(
      await gradeAsserts({ sandbox, programs: [], entryPoint: 'f', setup: '', tests: ['assert f(1)'], trust: 'model' }),
      [],
    );
  });
});
