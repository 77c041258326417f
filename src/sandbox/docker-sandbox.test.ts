import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { OutputRow, Sandbox, SandboxLimits } from './sandbox.ts';
import { call, ownContainers, rowsOf, TEST_LIMITS, testSandbox, withoutDocker } from './testing.ts';

describe('programs in the Docker sandbox', { skip: withoutDocker }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await testSandbox();
  });
  after(async () => {
    await sandbox.close();
    assert.deepEqual(await ownContainers(), []);
  });
  const rows = (source: string, args: string[], options = {}) => rowsOf(sandbox, source, args, options);
  const one = async (source: string, options = {}) => (await rows(source, ['0'], options))[0];

  test('returned values keep their types', async () => {
    const cases: [python: string, encoded: string][] = [
      ['None', 'null'],
      ['True', 'true'],
      ['1', '1'],
      ['1.0', '{"f":"1.0"}'],
      ['float("nan")', '{"f":"nan"}'],
      ['-0.0', '{"f":"-0.0"}'],
      ['2**64', '{"i":"0x10000000000000000"}'],
      ['(1, 2)', '{"t":[1,2]}'],
      ['[1, "a"]', '[1,"a"]'],
      ['{3, 1}', '{"s":[1,3]}'],
      ['{"k": [1]}', '{"d":[["k",[1]]]}'],
      ['b"\\x00"', '{"b":"00"}'],
      ['"\\ud800\\0"', '"\\ud800\\u0000"'],
      ['1j', '{"c":["0.0","1.0"]}'],
    ];
    for (const [python, encoded] of cases) {
      const row = await one(`def f(x):\n  return ${python}`);
      assert.deepEqual(
        { kind: row?.kind, value: row?.kind === 'value' && row.value },
        { kind: 'value', value: encoded },
        python,
      );
    }
  });

  test('arguments arrive as they were encoded', async () => {
    const args = ['{"f":"1.0"}', '{"i":"0x10000000000000000"}', '"\\ud800"', '{"f":"inf"}'];
    const got = await rows('def f(x):\n  return x', args);
    assert.deepEqual(
      got.map((row) => row.kind === 'value' && row.value),
      args,
    );
  });

  test('keyword arguments are passed by name', async () => {
    const [got] = await sandbox.runCalls({
      programs: [{ source: 'def f(a, *, b):\n  return (a, b)', entryPoint: 'f' }],
      calls: ['[[1],{"d":[["b",2]]}]'],
      limits: TEST_LIMITS,
    });
    assert.deepEqual(got, [{ kind: 'value', value: '{"t":[1,2]}' }]);
  });

  test('an exception of the library says which class it is, and its details are bounded', async () => {
    const row = await one('import json\ndef f(x):\n  return json.loads("{")');
    assert.ok(row?.kind === 'exception');
    assert.deepEqual([row.base, row.standard], ['ValueError', 'json.decoder.JSONDecodeError']);
    assert.match(row.details ?? '', /"pos",1/);
    for (const body of ['raise ValueError("x" * 5000)', 'raise ValueError(object())']) {
      const other = await one(`def f(x):\n  ${body}`);
      assert.ok(other?.kind === 'exception');
      assert.equal(other.details, undefined);
    }
  });

  test('all calls of a program have one budget of time', async () => {
    const limits = { ...TEST_LIMITS, cpuSeconds: 0.1 };
    const calls = Array.from({ length: 60 }, (_, index) => `[[${index}],{"d":[]}]`);
    for (const [source, most] of [
      ['import time\ndef f(x):\n  time.sleep(0.5)', 10],
      ['import time\ndef f(x):\n  end = time.process_time() + 0.07\n  while time.process_time() < end: pass', 40],
      ['import os, time\ndef f(x):\n  time.sleep(0.5)\n  os._exit(0)', 10],
    ] as const) {
      const started = performance.now();
      const [rows = []] = await sandbox.runCalls({ programs: [{ source, entryPoint: 'f' }], calls, limits });
      const done = rows.findIndex(({ kind }) => kind === 'timeout');
      assert.ok(done > 3 && done <= most, `${done} calls`);
      assert.ok(rows.slice(done).every(({ kind }) => kind === 'timeout'));
      assert.ok(performance.now() - started < 15_000);
    }
  });

  test('an exception names its type, nearest builtin, line and phase', async () => {
    const source = 'class Mine(KeyError):\n  pass\n\ndef f(x):\n  y = x\n  raise Mine("boom")';
    assert.deepEqual(await one(source), {
      kind: 'exception',
      type: 'Mine',
      base: 'KeyError',
      message: "'boom'",
      details: '[{"t":["boom"]},{"d":[]}]',
      line: 6,
      phase: 'call',
    });
  });

  const phases: [phase: string, type: string, line: number, source: string][] = [
    ['compile', 'SyntaxError', 2, 'x = 1\ndef f(x)\n  pass'],
    ['compile', 'UnicodeEncodeError', 0, 'x = "\ud800"'],
    ['import', 'ZeroDivisionError', 2, '\n1/0\ndef f(x): pass'],
    ['import', 'SystemExit', 1, 'raise SystemExit(0)'],
    ['entry', 'NameError', 0, 'def g(x): pass'],
    ['entry', 'TypeError', 0, 'f = 3'],
    ['call', 'SystemExit', 3, 'import sys\ndef f(x):\n  sys.exit(0)'],
    ['call', 'KeyboardInterrupt', 2, 'def f(x):\n  raise KeyboardInterrupt'],
    ['call', 'EOFError', 2, 'def f(x):\n  return input()'],
    ['call', 'RecursionError', 2, 'def f(x):\n  return f(x)'],
    ['call', 'TypeError', 0, 'def f(): pass'],
    ['encode', 'EncodeError', 0, 'def f(x):\n  for _ in range(200): x = [x]\n  return x'],
  ];
  for (const [phase, type, line, source] of phases) {
    test(`${type} in phase ${phase}`, async () => {
      const row = await one(source);
      assert.ok(row?.kind === 'exception', JSON.stringify(row));
      assert.deepEqual({ phase: row.phase, type: row.type, line: row.line }, { phase, type, line });
    });
  }

  test('a program that does not load has the same row for every call', async () => {
    const got = await rows('1/0', ['1', '2', '3']);
    assert.deepEqual(
      got.map((row) => row.kind === 'exception' && row.type),
      ['ZeroDivisionError', 'ZeroDivisionError', 'ZeroDivisionError'],
    );
  });

  const kinds = (got: OutputRow[]) => got.map((row) => row.kind);
  const abnormal: [name: string, statement: string, kind: string][] = [
    ['an endless loop', 'while True: pass', 'timeout'],
    ['leaving with status 0', 'os._exit(0)', 'crash'],
    ['killing itself', 'os.kill(os.getpid(), 9)', 'crash'],
    ['asking for too much memory', 'return [0] * 10**10', 'memory_limit'],
    ['growing without end', 'y = []\n    while True: y.append(bytearray(1 << 20))', 'memory_limit'],
    [
      'memory that only the container counts',
      'fds = [os.memfd_create(str(i)) for i in range(50)]; [os.write(fd, bytes(1 << 20)) for fd in fds for _ in range(31)]',
      'memory_limit',
    ],
    ['a result beyond the limit', 'return "a" * (9 << 20)', 'output_limit'],
    ['a null pointer', 'import ctypes; ctypes.string_at(0)', 'crash'],
  ];
  for (const [name, statement, kind] of abnormal) {
    test(`${name} is ${kind}, and the next call still runs`, async () => {
      // Touching a gigabyte takes CPU time of its own.
      const limits = { cpuSeconds: kind === 'timeout' ? 0.5 : 20 };
      const got = await rows(`import os\ndef f(x):\n  if x == 2:\n    ${statement}\n  return x`, ['1', '2', '3'], {
        limits,
      });
      assert.deepEqual(kinds(got), ['value', kind, 'value']);
    });
  }

  test('stopAfter ends a program after so many abnormal rows, exceptions not counted', async () => {
    const source = 'import os\ndef f(x):\n  if x == 1: raise ValueError\n  if x == 2: os._exit(0)\n  return x';
    const got = await rows(source, ['1', '1', '2', '3', '2', '3'], { stopAfter: 2 });
    assert.deepEqual(kinds(got), ['exception', 'exception', 'crash', 'value', 'crash', 'not_run']);
  });

  test('the output limit holds for all calls of a program together', async () => {
    const got = await rows('def f(x):\n  return "a" * x', ['1300', '1300', '1300', '1'], {
      limits: { outputBytes: 2000 },
    });
    assert.deepEqual(kinds(got), ['value', 'output_limit', 'output_limit', 'value']);
  });

  test('a program that spoils its container costs its neighbours nothing', async () => {
    const deep =
      'import os\ndef f(x):\n  os.chdir("/tmp")\n  for _ in range(1200):\n    os.mkdir("d")\n    os.chdir("d")\n  return -1';
    const sources = Array.from({ length: 32 }, (_, at) => (at % 4 === 0 ? deep : `def f(x):\n  return x + ${at}`));
    const found = await sandbox.runCalls({
      programs: sources.map((source) => ({ source, entryPoint: 'f' })),
      calls: [call('1'), call('2')],
      limits: TEST_LIMITS,
    });
    const expected = sources.map((source, at) => (source === deep ? ['-1', '-1'] : [`${at + 1}`, `${at + 2}`]));
    const values = found.map((ofProgram) => ofProgram.map((row) => (row.kind === 'value' ? row.value : row.kind)));
    assert.deepEqual(
      values.filter((_, at) => at % 4 !== 0),
      expected.filter((_, at) => at % 4 !== 0),
    );
    assert.equal(values[0]?.[0], '-1');
  });

  test('state of a module lives from call to call and ends with the program', async () => {
    const source = 'seen = []\ndef f(x):\n  seen.append(x)\n  return len(seen)';
    const [first, second] = await sandbox.runCalls({
      programs: [
        { source, entryPoint: 'f' },
        { source, entryPoint: 'f' },
      ],
      calls: [call('0'), call('0')],
      limits: TEST_LIMITS,
    });
    const expected = [
      { kind: 'value', value: '1' },
      { kind: 'value', value: '2' },
    ];
    assert.deepEqual([first, second], [expected, expected]);
  });

  for (const entryPoint of ['check', 'candidate', 'json', '_', 'main', 'run_calls', 'list', 'ünï']) {
    test(`an entry point may be named ${entryPoint}`, async () => {
      assert.deepEqual(await one(`def ${entryPoint}(x):\n  return 7`, { entryPoint }), {
        kind: 'value',
        value: '7',
      });
    });
  }

  test('sets come in one order, and chance is the same in every run', async () => {
    const source = 'import random\ndef f(x):\n  return [list({"a", "b", "c", "d"}), random.random()]';
    assert.deepEqual(await one(source), await one(source));
  });

  test('dataclasses, numpy and recursion to a depth of 900 work', async () => {
    const source = [
      'from __future__ import annotations',
      'import dataclasses, numpy as np',
      '@dataclasses.dataclass',
      'class P:\n  x: int',
      'def down(n): return 0 if n == 0 else 1 + down(n - 1)',
      'def f(x): return [P(3).x, int(np.arange(4).sum()), down(900)]',
    ].join('\n');
    assert.equal((await one(source))?.kind, 'value');
    assert.deepEqual(await one(source), { kind: 'value', value: '[3,6,900]' });
  });

  test('time is CPU time: a program that waits is not charged for it', async () => {
    const got = await rows('import time\ndef f(x):\n  time.sleep(0.8)\n  return x', ['1'], {
      limits: { cpuSeconds: 0.3 },
    });
    assert.deepEqual(kinds(got), ['value']);
  });

  test('import and single calls may have other times than a call, and all calls together another sum', async () => {
    const burn =
      'import time\ndef burn(s):\n  end = time.process_time() + s\n  while time.process_time() < end: pass\n';
    const kinds = async (source: string, limits: Partial<SandboxLimits>, slowCalls?: [number, number][]) => {
      const [got = []] = await sandbox.runCalls({
        programs: [{ source: burn + source, entryPoint: 'f' }],
        calls: [call('1'), call('2'), call('3')],
        limits: { ...TEST_LIMITS, ...limits },
        slowCalls,
      });
      return got.map(({ kind }) => kind);
    };
    const slowImport = 'burn(0.5)\ndef f(x): return x';
    assert.deepEqual(await kinds(slowImport, { cpuSeconds: 0.2 }), ['timeout', 'timeout', 'timeout']);
    assert.deepEqual(await kinds(slowImport, { cpuSeconds: 0.2, loadCpuSeconds: 2 }), ['value', 'value', 'value']);
    const slowSecond = 'def f(x):\n  burn(0.5 if x > 1 else 0)\n  return x';
    assert.deepEqual(await kinds(slowSecond, { cpuSeconds: 0.2 }, [[1, 2]]), ['value', 'value', 'timeout']);
    const steady = 'def f(x):\n  burn(0.4)\n  return x';
    assert.deepEqual(await kinds(steady, { totalCpuSeconds: 0.2 }), ['timeout', 'timeout', 'timeout']);
  });

  test('a program that only waits ends at ten times its limit', async () => {
    const started = performance.now();
    const got = await rows('import time\ndef f(x):\n  time.sleep(60)', ['1'], { limits: { cpuSeconds: 0.1 } });
    assert.deepEqual(kinds(got), ['timeout']);
    assert.ok(performance.now() - started < 20_000);
  });

  test('a program that starves itself, or hides behind a child, has spent its own time', async () => {
    for (const body of [
      'for _ in range(40):\n    if os.fork() == 0:\n      while True: pass\n  while True: pass',
      'if ctypes.CDLL(None).vfork() == 0: ctypes.CDLL(None).sleep(100)',
    ]) {
      const got = await rows(`import ctypes, os\ndef f(x):\n  ${body}`, ['1'], { limits: { cpuSeconds: 0.05 } });
      assert.deepEqual(got, [{ kind: 'timeout' }]);
    }
  });

  test('calls that used most of their time say so', async () => {
    const burn =
      'import time\ndef f(x):\n  end = time.process_time() + x / 10\n  while time.process_time() < end: pass';
    const got = await rows(burn, ['1', '4', '1'], { limits: { cpuSeconds: 0.48 } });
    assert.deepEqual(
      got.map((row) => (row.kind === 'value' ? row.nearLimit : row.kind)),
      [undefined, true, undefined],
    );
  });

  test('in cells every call has a process of its own', async () => {
    const source = 'import os\nseen = []\ndef f(x):\n  seen.append(x)\n  if x == 2: os._exit(0)\n  return len(seen)';
    const limits = { isolation: 'cell' } as const;
    const got = await rows(source, ['1', '2', '3', '4'], { limits });
    assert.deepEqual(
      got.map((row) => (row.kind === 'value' ? row.value : row.kind)),
      ['1', 'crash', '1', '1'],
    );
    const stopped = await rows(source, ['1', '2', '3', '4'], { limits, stopAfter: 1 });
    assert.deepEqual(kinds(stopped), ['value', 'crash', 'not_run', 'not_run']);
  });

  test('in cells loading again and again does not use up the time of the calls', async () => {
    const slow =
      'import time\nend = time.process_time() + 0.25\nwhile time.process_time() < end: pass\ndef f(x): return x';
    const limits = { isolation: 'cell', cpuSeconds: 1, totalCpuSeconds: 2 } as const;
    const got = await rows(slow, ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12'], { limits });
    assert.deepEqual(new Set(kinds(got)), new Set(['value']));
  });

  test('no calls give no rows', async () => {
    assert.deepEqual(await rows('def f(x): pass', []), []);
  });

  test('the fingerprint names Python, numpy, runner and image', async () => {
    const { python, numpy, runnerSha256, imageId } = await sandbox.fingerprint();
    assert.match(python, /^3\.11\.\d+$/);
    assert.match(numpy, /^1\.\d+\.\d+$/);
    assert.match(runnerSha256, /^[0-9a-f]{64}$/);
    assert.match(imageId, /^sha256:[0-9a-f]{64}$/);
  });

  describe('with standard input', () => {
    const run = async (source: string, inputs: string[], options = {}) => {
      const [got] = await sandbox.runStdio({ programs: [{ source }], inputs, limits: TEST_LIMITS, ...options });
      return got;
    };

    test('each input has a process of its own', async () => {
      const got = await run('import sys\nprint(sum(map(int, sys.stdin)))\nsys.modules["x"] = 1', ['1\n2\n', '3\n']);
      assert.deepEqual(got, [
        { kind: 'value', stdout: '3\n' },
        { kind: 'value', stdout: '3\n' },
      ]);
    });

    test('the main block runs, bytes can be read, and nothing to read is the end', async () => {
      const source =
        'import sys\nif __name__ == "__main__":\n  print(len(sys.stdin.buffer.read()), repr(sys.stdin.read()))';
      assert.deepEqual(await run(source, ['ü\r\n', '']), [
        { kind: 'value', stdout: "4 ''\n" },
        { kind: 'value', stdout: "0 ''\n" },
      ]);
    });

    test('much output and unread input block nobody', async () => {
      const got = await run('print("x" * 3_000_000)', ['y'.repeat(5_000_000)]);
      assert.equal(got?.[0]?.kind === 'value' && got[0].stdout.length, 3_000_001);
    });

    test('an exit status other than 0 is not a value, however much was printed', async () => {
      const got = await Promise.all(
        [
          'print("yes")\nraise SystemExit(3)',
          'print("yes")\nimport os\nos._exit(3)',
          'print("yes")\n1/0',
          'print("yes"',
          'while True: print("yes")',
          'while True: pass',
          'x = "a" * (1 << 33)',
          'import sys\nprint("yes")\nsys.exit(0)',
        ].map((source) => {
          const limits = { ...TEST_LIMITS, cpuSeconds: source === 'while True: pass' ? 0.3 : 20 };
          return run(source, [''], { limits }).then((row) => row?.[0]);
        }),
      );
      assert.deepEqual(got, [
        { kind: 'exception', type: 'SystemExit', message: '3', line: 2 },
        { kind: 'crash', detail: 'exited early with status 3' },
        { kind: 'exception', type: 'ZeroDivisionError', message: 'division by zero', line: 2 },
        { kind: 'exception', type: 'SyntaxError', message: "'(' was never closed", line: 1 },
        { kind: 'output_limit' },
        { kind: 'timeout' },
        { kind: 'memory_limit' },
        { kind: 'value', stdout: 'yes\n' },
      ]);
    });

    test('a grandchild that holds the output open does not delay the answer', async () => {
      const started = performance.now();
      const got = await run('import os, time\nprint("done", flush=True)\nif os.fork() == 0: time.sleep(60)', ['']);
      assert.deepEqual(got, [{ kind: 'value', stdout: 'done\n' }]);
      assert.ok(performance.now() - started < 30_000);
    });

    test('stopAfter leaves the other inputs unrun', async () => {
      const got = await run('import os\nos._exit(1)', ['', '', ''], { stopAfter: 1 });
      assert.deepEqual(
        got?.map((row) => row.kind),
        ['crash', 'not_run', 'not_run'],
      );
    });
  });

  describe('judges', () => {
    const judge = (source: string, input = '', seconds = 5) =>
      sandbox.runJudge({ source, input, trust: 'benchmark', seconds });

    test('read and write encoded values, lone surrogates included', async () => {
      const source =
        'import qf_encoding\ndef main(text):\n  return text + qf_encoding.encode(qf_encoding.decode("[1]"))';
      assert.deepEqual(await judge(source, 'ü\ud800'), { kind: 'output', output: 'ü\ud800[1]' });
    });

    test('fail for a reason', async () => {
      const reason = async (body: string, seconds = 5) => {
        const result = await judge(`import os\ndef main(text):\n  ${body}`, '', seconds);
        return result.kind === 'failed' ? result.reason : result;
      };
      assert.equal(await reason('while True: pass', 0.3), 'timeout');
      assert.equal(await reason('return "a" * (1 << 33)'), 'memory_limit');
      assert.equal(await reason('os._exit(0)'), 'crash');
      assert.equal(await reason('1/0'), 'exception');
      assert.equal(await reason('return 3'), 'exception');
    });

    test('of different trust sit in different containers', async () => {
      const source = 'import os\ndef main(text):\n  return open("/proc/sys/kernel/hostname").read()';
      const names = await Promise.all(
        (['benchmark', 'model'] as const).map((trust) => sandbox.runJudge({ source, input: '', trust, seconds: 5 })),
      );
      assert.notDeepEqual(names[0], names[1]);
    });
  });
});
