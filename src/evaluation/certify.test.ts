import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openBenchmark } from '../problems/benchmark.ts';
import { openHiddenTests } from '../problems/hidden.ts';
import { testSandbox, withoutDocker } from '../sandbox/testing.ts';
import { keepCertificate, readCertificates } from './certificates.ts';
import { certify } from './certify.ts';

const home = mkdtempSync(join(tmpdir(), 'qualityflow-certify-'));
after(() => rmSync(home, { recursive: true, force: true }));

test('right solutions pass and mutants do not; a benchmark of which that is not true is named', {
  skip: withoutDocker,
}, async () => {
  const task = (task_id: string, canonical_solution: string, test: string) =>
    `${JSON.stringify({ task_id, entry_point: 'f', prompt: 'Write f.', hidden_tests: [test], canonical_solution })}\n`;
  const benchmark = join(home, 'own.jsonl');
  const right = task('right', 'def f(x):\n  return x + 1', 'assert f(1) == 2');
  const stdio = `${JSON.stringify({ task_id: 'io', kind: 'stdio', prompt: 'Add one.', hidden_tests: [{ stdin: '1', stdout: '2' }], canonical_solution: 'print(int(input()) + 1)' })}\n`;
  const sandbox = await testSandbox();
  after(() => sandbox.close());
  const certified = async (content: string) => {
    writeFileSync(benchmark, content);
    const source = { benchmark, home };
    let told = 0;
    const found = await certify({
      sandbox,
      benchmark: await openBenchmark(source),
      sealed: await openHiddenTests(source),
      limits: 'own',
      expected: { read: async () => undefined, write: async () => {} },
      concurrency: 2,
      signal: new AbortController().signal,
      onGrades: (count) => (told += count),
    });
    assert.equal(told, found.canonical + found.mutants);
    return found;
  };
  assert.deepEqual(await certified(right + stdio + task('no reference', '', 'assert f(1) == 1')), {
    canonical: 2,
    mutants: 8,
    exceptions: 0,
    failures: [],
  });
  const { failures } = await certified(
    right +
      task('lax', 'def f(x):\n  return x', 'assert f(1) is not 7') +
      task('off', 'def f(x):\n  return x', 'assert f(1) == 2'),
  );
  assert.deepEqual(failures, [
    'lax: a program that returns None got pass',
    'lax: a program that returns its result twice got pass',
    'off: the canonical solution got wrong (assert f(1) == 2: got 1, expected 2)',
  ]);
});

test('certificates are kept by grader version, and a broken file is none', () => {
  const certificate = {
    benchmark: 'mini',
    datasetSha256: 'd',
    imageId: 'i',
    python: '3',
    numpy: '1',
    canonical: 1,
    mutants: 4,
    exceptions: 0,
    certifiedAt: '2026-01-01T00:00:00.000Z',
  };
  assert.equal(readCertificates({ home }).size, 0);
  keepCertificate({ home, version: 'a', ...certificate });
  keepCertificate({ home, version: 'b', ...certificate });
  assert.deepEqual([...readCertificates({ home }).keys()], ['a', 'b']);
  assert.deepEqual(readCertificates({ home }).get('a'), certificate);
  writeFileSync(join(home, 'certificates.json'), '{"a": 1}');
  assert.equal(readCertificates({ home }).size, 0);
});
