import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { dataDir, withoutData } from '../../test/support/data.ts';
import { openBenchmark } from './benchmark.ts';
import { openHiddenTests } from './hidden.ts';
import { ProblemFileError } from './problem-file-error.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qualityflow-problems-'));
});
after(() => rm(folder, { recursive: true }));

const TASK = {
  task_id: 'a',
  entry_point: 'f',
  prompt: 'Double it.',
  visible_tests: ['assert f(1) == 2'],
  hidden_tests: ['assert f(2) == 4'],
};
const line = (change: object = {}): string => JSON.stringify({ ...TASK, ...change });

async function open(content: string | Buffer) {
  const path = join(folder, `${Math.random()}.jsonl`);
  await writeFile(path, content);
  return openBenchmark({ benchmark: path, home: folder });
}

for (const [name, size, without, visible] of [
  ['humaneval', 164, 4, 461],
  ['humaneval+', 164, 4, 461],
  ['mbpp', 500, 0, 1500],
  ['mbpp-sanitized', 427, 0, 1324],
  ['mbpp+', 378, 0, 1174],
] as const) {
  test(`${name} has ${size} tasks, ${without} of them without a visible test`, { skip: withoutData }, async () => {
    const benchmark = await openBenchmark({ benchmark: name, dataDir, home: folder });
    const problems = benchmark.taskIds.map((taskId) => benchmark.problem(taskId));
    assert.equal(benchmark.size, size);
    assert.equal(new Set(benchmark.taskIds).size, size);
    assert.equal(problems.filter((problem) => problem.visibleTests.length === 0).length, without);
    assert.equal(problems.flatMap((problem) => problem.visibleTests).length, visible);
  });
}

test('a HumanEval statement is the prompt byte for byte, and helpers stand in the preamble', {
  skip: withoutData,
}, async () => {
  const benchmark = await openBenchmark({ benchmark: 'humaneval', dataDir, home: folder });
  const problem = benchmark.problem('HumanEval/32');
  assert.ok(problem.statement.startsWith('import math\n\n\ndef poly('));
  assert.ok(problem.statement.endsWith('1.0\n    """\n'));
  assert.ok(problem.preamble.startsWith('import math') && problem.preamble.endsWith('enumerate(xs)])\n'));
  assert.equal(benchmark.problem('HumanEval/2').preamble, '');
  assert.deepEqual(
    problem.visibleTests.map((visible) => visible.kind === 'assert' && visible.source),
    ['assert round(find_zero([1, 2]), 2) == -0.5', 'assert round(find_zero([-6, 11, -6, 1]), 2) == 1.0'],
  );
});

test('MBPP is the test split; line ends of its Python are \\n; the entry point is what the first assert calls', {
  skip: withoutData,
}, async () => {
  const source = { benchmark: 'mbpp', dataDir, home: folder };
  const [benchmark, sealed] = [await openBenchmark(source), await openHiddenTests(source)];
  assert.deepEqual([benchmark.taskIds[0], benchmark.taskIds.at(-1)], ['MBPP/11', 'MBPP/510']);
  assert.equal(benchmark.problem('MBPP/126').entryPoint, 'sum');
  for (const taskId of benchmark.taskIds) {
    const hidden = sealed.hidden(taskId);
    assert.ok(hidden.kind === 'asserts' && hidden.asserts.length >= 3);
    assert.ok(!JSON.stringify([hidden, benchmark.problem(taskId)]).includes('\\r'), taskId);
  }
  const setup = sealed.hidden('MBPP/367');
  assert.ok(setup.kind === 'asserts' && setup.setup.startsWith('root = Node(1)'));
});

test('EvalPlus inputs stay raw text, in files that JSON.parse refuses too', { skip: withoutData }, async () => {
  const sealed = await openHiddenTests({ benchmark: 'mbpp+', dataDir, home: folder });
  const benchmark = await openBenchmark({ benchmark: 'mbpp+', dataDir, home: folder });
  let unparsable = 0;
  for (const taskId of benchmark.taskIds) {
    const hidden = sealed.hidden(taskId);
    assert.ok(hidden.kind === 'evalplus');
    assert.equal(hidden.taskId, taskId.replace('MBPP', 'Mbpp'));
    assert.ok(hidden.baseInputs.startsWith('[') && hidden.plusInputs.startsWith('['));
    try {
      JSON.parse(hidden.plusInputs);
    } catch {
      unparsable++;
      assert.match(hidden.plusInputs, /Infinity|NaN/);
    }
  }
  assert.ok(unparsable > 0);
  const plus = await openHiddenTests({ benchmark: 'humaneval+', dataDir, home: folder });
  const truncate = plus.hidden('HumanEval/2');
  assert.ok(
    truncate.kind === 'evalplus' &&
      truncate.atol === '1e-06' &&
      truncate.canonical.startsWith('\n\ndef truncate_number'),
  );
});

test('nothing of the public view holds a hidden test', { skip: withoutData }, async () => {
  const source = { benchmark: 'humaneval', dataDir, home: folder };
  const [benchmark, sealed] = [await openBenchmark(source), await openHiddenTests(source)];
  for (const taskId of benchmark.taskIds) {
    const hidden = sealed.hidden(taskId);
    const shown = JSON.stringify(benchmark.problem(taskId));
    assert.ok(hidden.kind === 'check');
    assert.ok(!shown.includes('METADATA') && !shown.includes('def check('), taskId);
  }
});

test('own functions: defaults, visible tests of a completion, set-up', async () => {
  const completion = {
    form: 'completion',
    prompt: 'import math\ndef f(x):\n    """Double.\n    >>> f(3)\n    6\n    """\n',
    visible_tests: undefined,
  };
  const path = join(folder, 'own.jsonl.gz');
  await writeFile(
    path,
    gzipSync(
      `${line()}\n${line({ task_id: '../b c', ...completion, setup: 'import os\r\n', canonical_solution: 'def f(x): return 2*x' })}\n`,
    ),
  );
  const [benchmark, sealed] = [
    await openBenchmark({ benchmark: path, home: folder }),
    await openHiddenTests({ benchmark: path, home: folder }),
  ];
  assert.deepEqual(benchmark.taskIds, ['a', '../b c']);
  assert.deepEqual(benchmark.problem('a'), {
    taskId: 'a',
    kind: 'function',
    entryPoint: 'f',
    form: 'description',
    statement: 'Double it.',
    preamble: '',
    visibleTests: [{ kind: 'assert', source: 'assert f(1) == 2' }],
  });
  const second = benchmark.problem('../b c');
  assert.deepEqual(
    [second.preamble, second.visibleTests],
    ['import math\n', [{ kind: 'assert', source: 'assert f(3) == 6' }]],
  );
  assert.deepEqual(sealed.hidden('../b c'), {
    kind: 'asserts',
    setup: 'import os\n',
    asserts: ['assert f(2) == 4'],
    canonical: 'def f(x): return 2*x',
  });
  assert.equal(benchmark.countInvalidVisible, undefined);
});

test('own stdio tasks: cases in, cases out', async () => {
  const path = join(folder, 'stdio.jsonl');
  const cases = [{ stdin: '2\n', stdout: '4\n' }];
  await writeFile(
    path,
    JSON.stringify({ task_id: 's', kind: 'stdio', prompt: 'Double.', visible_tests: cases, hidden_tests: cases }),
  );
  const benchmark = await openBenchmark({ benchmark: path, home: folder });
  assert.deepEqual(benchmark.problem('s').visibleTests, [{ kind: 'stdio', ...cases[0] }]);
  assert.equal(benchmark.problem('s').entryPoint, '');
  assert.deepEqual((await openHiddenTests({ benchmark: path, home: folder })).hidden('s'), {
    kind: 'stdio',
    cases,
    canonical: '',
  });
});

test('BOM, CRLF, blank lines, U+2028 inside a string and a last line without its end are all read', async () => {
  const content = `\ufeff${line()}\r\n\r\n  \n${line({ task_id: 'b', prompt: 'one\u2028two\u0085three' })}`;
  const benchmark = await open(content);
  assert.deepEqual(benchmark.taskIds, ['a', 'b']);
  assert.equal(benchmark.problem('b').statement, 'one\u2028two\u0085three');
});

test('all members of a multi-member gzip file are read, and the sha256 is that of the content', async () => {
  const halves = [`${line()}\n`, `${line({ task_id: 'b' })}\n`] as const;
  const [packed, plain] = [
    await open(Buffer.concat([gzipSync(halves[0]), gzipSync(halves[1])])),
    await open(halves.join('')),
  ];
  assert.equal(packed.size, 2);
  assert.equal(packed.sha256, plain.sha256);
});

test('a file that has changed is read again', async () => {
  const path = join(folder, 'changing.jsonl');
  await writeFile(path, line());
  const first = await openBenchmark({ benchmark: path, home: folder });
  await writeFile(path, `${line()}\n${line({ task_id: 'b' })}`);
  assert.equal((await openBenchmark({ benchmark: path, home: folder })).size, 2);
  assert.equal(first.size, 1);
});

test('a caller cannot change what another one gets', async () => {
  const benchmark = await open(line());
  benchmark.problem('a').visibleTests.length = 0;
  assert.equal(benchmark.problem('a').visibleTests.length, 1);
});

const BROKEN: [string, string | Buffer, RegExp][] = [
  ['an empty file', '', /holds no task/],
  ['a torn last line', `${line()}\n${line({ task_id: 'b' }).slice(0, -9)}`, /:2: the last line is cut off/],
  ['a broken line in the middle', `${line()}\n{"task_id": "b"\n${line({ task_id: 'c' })}\n`, /:2: not a JSON object/],
  ['lines that end in \\r alone', `${line()}\r${line({ task_id: 'b' })}`, /:1: not a JSON object.*more text/],
  ['a truncated gzip file', gzipSync(line()).subarray(0, -12), /is cut off/],
  ['a damaged gzip file', Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), Buffer.alloc(40, 7)]), /is damaged/],
  ['UTF-16 with a mark', Buffer.from(`\ufeff${line()}`, 'utf16le'), /is UTF-16/],
  ['UTF-16 without a mark', Buffer.from(line(), 'utf16le'), /is UTF-16/],
  [
    'bytes that are not UTF-8',
    Buffer.concat([Buffer.from(`${line()}\n`), Buffer.from([0x22, 0xff])]),
    /:2: the text is not UTF-8/,
  ],
  ['an id that stands twice', `${line()}\n\n${line()}`, /:3: the id "a" stands already at .*:1/],
  ['a missing key', line({ prompt: undefined }), /:1: the key "prompt" is missing/],
  ['a list where a string must be', line({ prompt: ['x'] }), /"prompt" must be a string, not a list/],
  ['a number where a string must be', line({ task_id: 7 }), /"task_id" must be a string, not a number/],
  [
    'null where a string must be',
    line({ canonical_solution: null }),
    /"canonical_solution" must be a string, not null/,
  ],
  [
    'a string where a list must be',
    line({ hidden_tests: 'assert f(2) == 4' }),
    /"hidden_tests" must be a list, not a string/,
  ],
  [
    'a list of something else',
    line({ visible_tests: [['x']] }),
    /element 1 of "visible_tests" must be a string, not a list/,
  ],
  ['no hidden tests', line({ hidden_tests: [] }), /"hidden_tests" is empty/],
  ['an unknown key', line({ hiden_tests: [] }), /unknown key "hiden_tests"/],
  ['a key with a space', line({ 'setup ': '' }), /unknown key "setup "/],
  ['a kind that does not exist', line({ kind: 'class' }), /"kind" must be "function" or "stdio"/],
  ['an entry point that is no name', line({ entry_point: 'f; import os' }), /"entry_point" must be the name/],
  ['a completion that does not define its function', line({ form: 'completion' }), /must define f/],
  ['an id with an escape', line({ task_id: 'a\u001b[2J' }), /holds a control character/],
  ['an id with a lone surrogate', line().replace('"a"', '"a\\ud800"'), /holds a control character/],
  ['an empty id', line({ task_id: ' ' }), /task id is empty/],
];

for (const [what, content, message] of BROKEN) {
  test(`${what} is one clear error`, async () => {
    await assert.rejects(open(content), (error: unknown) => {
      assert.ok(error instanceof ProblemFileError, String(error));
      assert.match(error.message, message);
      assert.match(error.remedy, /^[A-Z].*[.?]$/);
      return true;
    });
  });
}

test('names that do not exist get the nearest one', async () => {
  const failure = (benchmark: string, more: object = {}) =>
    openBenchmark({ benchmark, home: folder, ...more }).then(
      () => 'opened',
      (error: ProblemFileError) => `${error.message} ${error.remedy}`,
    );
  assert.equal(await failure('humanevl+'), 'Unknown benchmark "humanevl+". Did you mean "humaneval+"?');
  assert.match(await failure('quarterly'), /Unknown benchmark.*Known are humaneval, /);
  assert.match(await failure('./nowhere.jsonl'), /There is no file .*nowhere\.jsonl/);
  assert.match(await failure(folder), /Cannot read .*EISDIR/);
  assert.match(await failure('mbpp', { dataDir: folder }), /lacks mbpp\/mbpp\.jsonl\(\.gz\).*--data-dir/);
  assert.match(await failure('mbpp', { download: false }), /The data of mbpp is not here\..*--data-dir/);
});
