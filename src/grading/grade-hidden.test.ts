import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { dataDir, withoutData } from '../../test/support/data.ts';
import { openBenchmark } from '../problems/benchmark.ts';
import { openHiddenTests } from '../problems/hidden.ts';
import type { HiddenTests } from '../problems/hidden-tests.ts';
import type { Problem } from '../problems/problem.ts';
import { type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { testSandbox, withoutDocker } from '../sandbox/testing.ts';
import { expectedFolder } from './expected-folder.ts';
import { gradeHidden } from './grade-hidden.ts';
import { proveGrader } from './known-pair.ts';
import type { Graded } from './verdict.ts';

const problem: Problem = {
  taskId: 'own/1',
  kind: 'function',
  entryPoint: 'f',
  form: 'description',
  statement: '',
  preamble: '',
  visibleTests: [],
};

type EvalPlus = Extract<HiddenTests, { kind: 'evalplus' }>;
const evalplus = (part: Partial<EvalPlus>): EvalPlus => ({
  kind: 'evalplus',
  dataset: 'humaneval+',
  taskId: 'HumanEval/999',
  baseInputs: '[[1]]',
  plusInputs: '[[2], [3]]',
  atol: '0',
  contract: '',
  canonical: 'def f(x):\n  return x',
  ...part,
});

describe('hidden tests', { skip: withoutDocker }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await testSandbox();
  });
  after(() => sandbox.close());
  const verdicts = async (hidden: HiddenTests, programs: string[], entryPoint = 'f') =>
    (await gradeHidden({ sandbox, problem: { ...problem, entryPoint }, hidden, programs })).map(
      (graded) => graded.verdict,
    );

  test('the known pair comes out as known', async () => {
    assert.deepEqual(await proveGrader({ sandbox }), { kind: 'ok' });
  });

  test('a grader whose sandbox says yes to everything, or no, is found out', async () => {
    const yes: Sandbox = {
      ...sandbox,
      runCalls: async (job) => job.programs.map(() => job.calls.map(() => ({ kind: 'value', value: '3' }))),
    };
    const no: Sandbox = {
      ...sandbox,
      runCalls: async (job) => job.programs.map(() => job.calls.map(() => ({ kind: 'timeout' }))),
    };
    for (const broken of [yes, no]) assert.equal((await proveGrader({ sandbox: broken })).kind, 'broken');
  });

  test('a check() of plain asserts counts each; any other counts as one', async () => {
    const plain =
      'METADATA = {}\n\ndef check(candidate):\n    assert candidate(1) == 1, "m"\n    assert True\n    assert candidate(2) == 2\n';
    const loop = 'def check(candidate):\n    for i in range(5):\n        assert candidate(i) == i\n';
    const programs = ['def f(x):\n  return x', 'def f(x):\n  return 1'];
    const graded = async (source: string) =>
      gradeHidden({ sandbox, problem, hidden: { kind: 'check', source, canonical: '' }, programs });
    const shape = (grades: Graded[]) => grades.map(({ verdict, tests, passed }) => ({ verdict, tests, passed }));
    assert.deepEqual(shape(await graded(plain)), [
      { verdict: 'pass', tests: 2, passed: 2 },
      { verdict: 'wrong', tests: 2, passed: 1 },
    ]);
    const [pass, wrong] = await graded(loop);
    assert.deepEqual([pass?.verdict, pass?.tests, wrong?.verdict, wrong?.tests], ['pass', 1, 'wrong', 1]);
    assert.deepEqual(wrong?.firstFailure, {
      status: 'fail',
      test: 'assert candidate(i) == i',
      actual: '1',
      expected: '0',
    });
  });

  test('tests that test nothing are never a pass', async () => {
    const hidden: HiddenTests[] = [
      { kind: 'check', source: 'def check(candidate):\n    pass\n', canonical: '' },
      { kind: 'check', source: 'def check(candidate):\n    assert True\n', canonical: '' },
      { kind: 'check', source: '', canonical: '' },
      { kind: 'asserts', setup: '', asserts: [], canonical: '' },
      { kind: 'asserts', setup: 'import nothing_of_that_name', asserts: ['assert f(1) == 1'], canonical: '' },
      { kind: 'stdio', cases: [], canonical: '' },
      evalplus({ baseInputs: '[]', plusInputs: '[]' }),
      evalplus({ canonical: 'def f(x):\n  raise ValueError' }),
      evalplus({ baseInputs: 'no json' }),
    ];
    for (const tests of hidden)
      assert.deepEqual(await verdicts(tests, ['def f(x):\n  return x']), ['invalid_test'], JSON.stringify(tests));
  });

  test('EvalPlus: base before plus, each verdict by its first failure', async () => {
    const programs = [
      'def f(x):\n  return x',
      'def f(x):\n  return min(x, 2)',
      'def f(x):\n  return 0',
      'def f(x):\n  if x == 3:\n    raise KeyError(x)\n  return x',
      'def f(x):\n  while x == 2:\n    pass\n  return x',
    ];
    const graded = await gradeHidden({ sandbox, problem, hidden: evalplus({}), programs });
    assert.deepEqual(
      graded.map(({ verdict, base, tests, passed }) => [verdict, base, tests, passed]),
      [
        ['pass', 'pass', 3, 3],
        ['wrong', 'pass', 3, 2],
        ['wrong', 'wrong', 3, 0],
        ['error', 'pass', 3, 2],
        ['timeout', 'pass', 3, 1],
      ],
    );
    assert.deepEqual(graded[1]?.firstFailure, { status: 'fail', test: 'f(3)', actual: '2', expected: '3' });
    assert.equal(graded[3]?.firstFailure?.exception, 'KeyError: 3 (line 3)');
  });

  test('EvalPlus: a canonical solution that runs out of something is the machine’s failure, and is tried again', async () => {
    const hidden = evalplus({ taskId: 'HumanEval/998' });
    for (const kind of ['timeout', 'memory_limit'] as const) {
      let fails = true;
      const sometimes: Sandbox = {
        ...sandbox,
        runCalls: async (job) =>
          fails ? job.programs.map(() => job.calls.map(() => ({ kind }))) : sandbox.runCalls(job),
      };
      const job = { sandbox: sometimes, problem, hidden, programs: ['def f(x):\n  return x'] };
      await assert.rejects(gradeHidden(job), SandboxError);
      fails = false;
      assert.equal((await gradeHidden(job))[0]?.verdict, 'pass');
    }
    let exits = true;
    const judged: Sandbox = {
      ...sandbox,
      runJudge: async (job) =>
        exits ? { kind: 'failed', reason: 'crash', detail: 'killed by SIGKILL' } : sandbox.runJudge(job),
    };
    const job = { sandbox: judged, problem, hidden, programs: ['def f(x):\n  return x'] };
    await assert.rejects(gradeHidden(job), SandboxError);
    exits = false;
    assert.equal((await gradeHidden(job))[0]?.verdict, 'pass');
  });

  test('EvalPlus: a test has a second, or four times what the canonical solution takes', async () => {
    const burning = (x: number, seconds: number) =>
      `import time\ndef f(x):\n  while x == ${x} and time.process_time() - f.start < ${seconds}: pass\n  f.start = time.process_time()\n  return x\nf.start = time.process_time()`;
    const hidden = evalplus({ canonical: burning(3, 0.5) });
    assert.deepEqual(await verdicts(hidden, [burning(3, 1.4), burning(2, 1.4)]), ['pass', 'timeout']);
    const job = { sandbox, problem, hidden, programs: [burning(2, 1.4)] };
    assert.equal((await gradeHidden({ ...job, limits: 'own' }))[0]?.verdict, 'pass');
  });

  test('right programs whose ways or values are odd pass, and a wrong one beside them does not', async () => {
    const bodies = [
      'print("x" * (50 << 20))\n  return x',
      'return list(range(10**5 + x))',
      'return "\\ud800" * x',
      'return "a\\u2028b\\u2029" * x',
      'return 10**4999 + x',
      'import sys\n  return [x, sys.stdin.read()]',
      'import numpy\n  return numpy.arange(x + 2).sum()',
    ];
    for (const body of bodies) {
      const canonical = `def f(x):\n  ${body}`;
      const programs = [`${canonical}\n`, 'def f(x):\n  return [x]'];
      assert.deepEqual(await verdicts(evalplus({ canonical }), programs), ['pass', 'wrong'], body);
      const asserts = ['want = f(1)\nassert f(1) == want and want != [1]'];
      assert.deepEqual(
        await verdicts({ kind: 'asserts', setup: '', asserts, canonical }, programs),
        ['pass', 'wrong'],
        body,
      );
    }
  });

  test('a verdict that came near a limit of time says so, whatever kind the tests are', async () => {
    const burn = 'import time\ndef f(x):\n  end = time.process_time() + 0.85\n  while time.process_time() < end: pass';
    const slow = `${burn}\n  return x`;
    const canonical = 'def f(x):\n  return x';
    const asserts = ['assert f(1) == 1'];
    const check = 'def check(candidate):\n    a = [1]\n    candidate(a)\n    assert a == [1]\n';
    const near = async (hidden: HiddenTests) =>
      (await gradeHidden({ sandbox, problem, hidden, programs: [slow, canonical], limits: 'evalplus' })).map(
        ({ verdict, nearLimit }) => [verdict, nearLimit],
      );
    const expected = [
      ['pass', true],
      ['pass', undefined],
    ];
    assert.deepEqual(await near(evalplus({ plusInputs: '[]' })), expected);
    assert.deepEqual(await near({ kind: 'asserts', setup: '', asserts, canonical }), expected);
    assert.deepEqual(await near({ kind: 'check', source: check, canonical }), expected);
  });

  test('how tests are graded is settled once for all processes that share a store', async () => {
    const texts = new Map<string, string>();
    const expected = {
      read: async (key: string) => texts.get(key),
      write: async (key: string, text: string) => void texts.set(key, text),
    };
    const source = 'def check(candidate):\n    assert candidate(1) == 1\n';
    const hidden: HiddenTests = { kind: 'check', source, canonical: 'def f(x):\n  return x' };
    const collects = async (): Promise<number> => {
      let count = 0;
      const counting: Sandbox = {
        ...sandbox,
        runJudge(job) {
          count += job.input.includes('"mode":"collect"') ? 1 : 0;
          return sandbox.runJudge(job);
        },
      };
      const programs = ['def f(x):\n  return x', 'def f(x):\n  return 2'];
      const graded = await gradeHidden({ sandbox: counting, problem, hidden, programs, expected });
      assert.deepEqual(
        graded.map(({ verdict }) => verdict),
        ['pass', 'wrong'],
      );
      return count;
    };
    assert.deepEqual([await collects(), await collects()], [1, 0]);
    for (const key of texts.keys()) texts.set(key, '{"tests":[]}');
    assert.equal(await collects(), 1);
  });

  test('EvalPlus: expected outputs outlive the sandbox, and what was changed in the file is computed again', async () => {
    const home = await mkdtemp(join(tmpdir(), 'qualityflow-expected-'));
    try {
      const expected = expectedFolder({ home });
      const hidden = evalplus({ canonical: 'def f(x):\n  return x / 7' });
      /** How often the canonical solution ran, for a sandbox that knows nothing yet. */
      const runs = async (): Promise<number> => {
        let count = 0;
        const counting: Sandbox = {
          ...sandbox,
          runCalls(job) {
            count += job.programs.filter(({ source }) => source.includes('__qf_spent')).length;
            return sandbox.runCalls(job);
          },
        };
        const programs = ['def f(x):\n  return x / 7', 'def f(x):\n  return x'];
        const graded = await gradeHidden({ sandbox: counting, problem, hidden, programs, expected });
        assert.deepEqual(
          graded.map(({ verdict }) => verdict),
          ['pass', 'wrong'],
        );
        return count;
      };
      assert.equal(await runs(), 1);
      assert.equal(await runs(), 0);
      const folder = join(home, 'expected-outputs');
      const names = await readdir(folder);
      const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
      // The other holds the seconds, by which tasks are put in order.
      const at = texts.findIndex((content) => content.includes('"calls"'));
      const [path, text = ''] = [join(folder, names[at] ?? ''), texts[at]];
      const lasting = (content: string) => content.replace(/^[0-9a-f]{64}\n/, '').replace(/"cpuSeconds":[^}]*/, '');
      assert.notEqual(lasting(text), text);
      for (const changed of ['', text.slice(0, -1), text.replace('0.14', '0.15'), `${'0'.repeat(64)}\n{}`]) {
        await writeFile(path, changed);
        assert.equal(await runs(), 1);
        // All but the time that the canonical solution took, and the digest over it.
        assert.equal(lasting(await readFile(path, 'utf8')), lasting(text));
      }
      assert.deepEqual(await readdir(folder), names);
      await rm(folder, { recursive: true });
      await writeFile(folder, 'no folder');
      assert.equal(await runs(), 1);
    } finally {
      await rm(home, { recursive: true });
    }
  });

  test('EvalPlus: tolerance, types and NaN', async () => {
    const cases: [canonical: string, program: string, atol: string, verdict: string][] = [
      ['x / 3', 'x / 3 + 5e-7', '0', 'pass'],
      ['x / 3', 'x / 3 + 5e-5', '0', 'wrong'],
      ['x / 3', 'x / 3 + 5e-5', '1e-4', 'pass'],
      ['[x / 3]', '[x / 3 + 1e-9]', '0', 'pass'],
      ['[x / 3]', '(x / 3 + 1e-9,)', '0', 'wrong'],
      ['x', 'float(x)', '0', 'pass'],
      ['[x]', '(x,)', '0', 'wrong'],
      ['float("nan")', 'float("nan")', '0', 'wrong'],
      ['{1: x}', '{1: float(x)}', '0', 'pass'],
      ['10 ** 30 + x', '10 ** 30 + x', '0', 'pass'],
      ['x + 2 ** 53', 'x + 2 ** 53 + 1', '0', 'wrong'],
      ['1.0 if x == 1 else 10 ** 9', '1.0 if x == 1 else 10 ** 9 + 1', '0', 'wrong'],
      ['10 ** 9 if x == 3 else 0.5', '10 ** 9 + 1 if x == 3 else 0.5', '0', 'pass'],
    ];
    for (const [canonical, program, atol, verdict] of cases) {
      const hidden = evalplus({ canonical: `def f(x):\n  return ${canonical}`, atol });
      assert.deepEqual(
        await verdicts(hidden, [`def f(x):\n  return ${program}`]),
        [verdict],
        `${canonical} against ${program}`,
      );
    }
  });

  test('EvalPlus: large outputs are compared by digest, and in full where digests differ', async () => {
    const canonical = 'def f(x):\n  return [i / 7 for i in range(5000)] + [float(x)]';
    const programs = [
      canonical,
      canonical.replace('i / 7', '(i + 1e-9) / 7'),
      canonical.replace('float(x)', 'x + 1.0'),
    ];
    const found = await gradeHidden({ sandbox, problem, hidden: evalplus({ canonical }), programs });
    assert.deepEqual(
      found.map((graded) => graded.verdict),
      ['pass', 'pass', 'wrong'],
    );
    assert.ok((found[2]?.firstFailure?.actual ?? '').startsWith('[0.0, 0.14'));
  });

  test('EvalPlus: inputs keep what JSON in JavaScript would lose', async () => {
    const hidden = evalplus({
      baseInputs: '[[1.0], [12345678901234567891]]',
      plusInputs: '[[Infinity], [-Infinity]]',
      canonical: 'def f(x):\n  return repr(x)',
    });
    assert.deepEqual(await verdicts(hidden, ['def f(x):\n  return str(x)', 'def f(x):\n  return repr(float(x))']), [
      'pass',
      'wrong',
    ]);
  });

  test('EvalPlus: the tasks with an oracle of their own', async () => {
    const mbpp = (number: number, part: Partial<EvalPlus>) =>
      evalplus({ dataset: 'mbpp+', taskId: `Mbpp/${number}`, ...part });
    const pairs = '[[[1, 2], [2, 3]]]';
    const shared = 'def similar_elements(a, b):\n  return tuple(set(a) & set(b))';
    const list = 'def similar_elements(a, b):\n  assert type(a) is tuple\n  return [x for x in a if x in b] * 2';
    assert.deepEqual(
      await verdicts(
        mbpp(2, { baseInputs: pairs, plusInputs: '[]', canonical: shared }),
        [shared, list],
        'similar_elements',
      ),
      ['pass', 'pass'],
    );
    const match = 'import re\ndef text_match_three(text):\n  return re.search("ab{3}", text)';
    const words = { baseInputs: '[["abbb"]]', plusInputs: '[["ab"]]', canonical: match };
    const yes = 'def text_match_three(text):\n  return True';
    assert.deepEqual(await verdicts(mbpp(720, { ...words, taskId: 'Mbpp/0' }), [match, yes], 'text_match_three'), [
      'pass',
      'wrong',
    ]);
    const zero = 'def find_zero(xs):\n  return -xs[0] / xs[1]';
    const roots = {
      baseInputs: '[[[1, 2]]]',
      plusInputs: '[[[-6, 11, -6, 1]]]',
      atol: '0.0001',
      canonical: 'def find_zero(xs):\n  return 3.0 if len(xs) > 2 else -0.5',
    };
    const other = 'def find_zero(xs):\n  return 1.0 if len(xs) > 2 else -0.5';
    assert.deepEqual(await verdicts(evalplus({ ...roots, taskId: 'HumanEval/32' }), [other, zero], 'find_zero'), [
      'pass',
      'wrong',
    ]);
  });

  test('stdio: trailing whitespace does not count, everything else does', async () => {
    const hidden: HiddenTests = { kind: 'stdio', cases: [{ stdin: '1\n2\n', stdout: 'a 3\nb\n' }], canonical: '' };
    const programs = [
      'print("a", int(input()) + int(input()), end=" \\r\\n")\nprint("b\\n\\n")',
      'print("a 3 b")',
      'raise SystemExit(1)',
      'import sys\nsys.stdin.read()\nprint("a 3")\nprint("b")\nraise ValueError("late")',
    ];
    assert.deepEqual(await verdicts(hidden, programs), ['pass', 'wrong', 'error', 'error']);
  });

  describe('real benchmarks', { skip: withoutData }, () => {
    const source = (benchmark: string) => ({ benchmark, dataDir, home: '', download: false as const });
    async function gradeTasks(
      benchmark: string,
      choose: (index: number) => boolean,
      programOf: (canonical: string, entryPoint: string) => string,
    ) {
      const [open, sealed] = [await openBenchmark(source(benchmark)), await openHiddenTests(source(benchmark))];
      const found: [taskId: string, graded: Graded][] = [];
      const queue = open.taskIds.filter((_, index) => choose(index)).values();
      const work = async () => {
        for (const taskId of queue) {
          const [task, hidden] = [open.problem(taskId), sealed.hidden(taskId)];
          const [graded] = await gradeHidden({
            sandbox,
            problem: task,
            hidden,
            programs: [programOf(hidden.canonical, task.entryPoint)],
          });
          assert.ok(graded);
          found.push([taskId, graded]);
        }
      };
      await Promise.all([work(), work()]);
      return found;
    }
    const canonical = (text: string) => text;
    const notPassed = (found: [string, Graded][]) =>
      found.filter(([, graded]) => graded.verdict !== 'pass').map(([id, graded]) => [id, graded.firstFailure]);
    const forgeable = (found: [string, Graded][]) => found.filter(([, graded]) => graded.forgeable).map(([id]) => id);

    test('HumanEval: all 164 canonical solutions pass by replay alone', async () => {
      const found = await gradeTasks('humaneval', () => true, canonical);
      assert.equal(found.length, 164);
      assert.deepEqual(notPassed(found), []);
      assert.deepEqual(forgeable(found), []);
      assert.equal(
        found.reduce((sum, [, graded]) => sum + graded.tests, 0),
        1106,
      );
    });

    test('MBPP: every tenth canonical solution passes; Mbpp/367 builds its input with a class of the solution', async () => {
      const found = await gradeTasks('mbpp', (index) => index % 10 === 0 || index === 356, canonical);
      assert.equal(found.length, 51);
      assert.deepEqual(notPassed(found), []);
      assert.deepEqual(forgeable(found), ['MBPP/367']);
    });

    test('HumanEval+ and MBPP+: canonical solutions pass, a constant does not', async () => {
      const few = (index: number) => index % 40 === 4;
      for (const benchmark of ['humaneval+', 'mbpp+']) {
        assert.deepEqual(notPassed(await gradeTasks(benchmark, few, canonical)), [], benchmark);
        const constant = await gradeTasks(
          benchmark,
          few,
          (_, entryPoint) => `def ${entryPoint}(*args):\n  return True\n`,
        );
        assert.deepEqual(
          constant.filter(([, graded]) => graded.verdict === 'pass'),
          [],
          benchmark,
        );
      }
    });
  });
});
