import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataDir, withoutData } from '../../test/support/data.ts';
import { lintBenchmark } from './lint.ts';

const base = {
  entry_point: 'f',
  prompt: 'Double it.',
  visible_tests: ['assert f(1) == 2'],
  hidden_tests: ['assert f(2) == 4'],
  canonical_solution: 'def f(x):\n    return 2 * x\n',
};

test('everything that is wrong with a file is said at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qualityflow-lint-'));
  const path = join(folder, 'own.jsonl');
  const records = [
    { task_id: 'good' },
    { task_id: 'good' },
    '{"task_id": ',
    { task_id: 'nokey', prompt: undefined },
    { task_id: 'invisible', visible_tests: [] },
    { task_id: 'syntax', hidden_tests: ['assert f(2) == ('] },
    { task_id: 'other', hidden_tests: ['assert g(2) == 4', 'assert f(2, 3) == 4'] },
    { task_id: 'two', visible_tests: ['x = f(1)\nassert x == 2'] },
    { task_id: 'shown', hidden_tests: ['assert f(2) == 4', ' assert f(1) == 2 '] },
    {
      task_id: 'stdio',
      kind: 'stdio',
      entry_point: undefined,
      visible_tests: [{ stdin: '1', stdout: '2' }],
      hidden_tests: [{ stdin: '1', stdout: '2' }],
      canonical_solution: 'print(2)',
    },
    { task_id: 'reference', canonical_solution: 'def g(x): pass', prompt: ' ' },
  ];
  await writeFile(
    path,
    records.map((record) => (typeof record === 'string' ? record : JSON.stringify({ ...base, ...record }))).join('\n'),
  );
  const report = await lintBenchmark({ benchmark: path, home: folder });
  await rm(folder, { recursive: true });
  assert.deepEqual(
    report.findings.map(
      ({ severity, taskId, message }) => `${severity} ${taskId ?? ''}: ${message.replaceAll(path, 'own.jsonl')}`,
    ),
    [
      'error : own.jsonl:2: the id "good" stands already at own.jsonl:1. Give every task an id of its own.',
      'error : own.jsonl:3: not a JSON object: at character 13, a value is missing or is no JSON value. Every line must hold one JSON object.',
      'error : own.jsonl:4: the key "prompt" is missing. Correct that record, or fetch the file again.',
      'warning invisible: There is no visible test, so no checker can accept a program.',
      'error syntax: Hidden test 1 is not one Python assert statement.',
      'error other: Hidden test 1 does not call f.',
      'error other: Hidden test 2 calls f with arguments that its signature does not take.',
      'error two: Visible test 1 is not one Python assert statement.',
      'warning shown: Hidden test 2 is visible too, and so can be met without solving the task.',
      'warning stdio: Hidden test 1 is visible too, and so can be met without solving the task.',
      'error reference: The prompt is empty.',
      'error reference: The reference solution does not define f.',
    ],
  );
  assert.deepEqual(
    report.tasks.map((task) => task.problem.taskId),
    ['good', 'invisible', 'syntax', 'other', 'two', 'shown', 'stdio', 'reference'],
  );
});

test('mini and MBPP are not warned of: one hides its tests, the other shows them by design', async () => {
  const { findings } = await lintBenchmark({ benchmark: 'mini', home: '.' });
  assert.deepEqual(findings, []);
});

test('a file that cannot be read is one finding', async () => {
  const report = await lintBenchmark({ benchmark: import.meta.dirname, home: '.' });
  assert.equal(report.sha256, undefined);
  assert.match(report.findings.map((finding) => finding.message).join(), /Cannot read/);
});

test('the published benchmarks have no errors', { skip: withoutData }, async () => {
  for (const benchmark of ['humaneval', 'humaneval+', 'mbpp', 'mbpp-sanitized', 'mbpp+']) {
    const { findings } = await lintBenchmark({ benchmark, dataDir, home: '.' });
    assert.deepEqual(
      findings.filter((finding) => finding.severity === 'error'),
      [],
      benchmark,
    );
  }
});
