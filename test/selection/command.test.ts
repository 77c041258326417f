import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { withoutDocker } from '../../src/sandbox/testing.ts';
import { Project } from '../support/cli.ts';

describe('select over the mini benchmark', { skip: withoutDocker }, () => {
  const project = new Project();
  after(() => project.close());
  const file = (name: string, content: string | Buffer) => writeFileSync(join(project.folder, name), content);
  const lines = (values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

  const area = 'import math\ndef ring_area(outer, inner):\n  return ';
  const solutions = [
    '0',
    'math.pi * (outer ** 2 - inner ** 2)',
    'math.pi * (outer * outer - inner * inner)',
    'outer - inner',
    'area(outer) - area(inner)',
  ];
  const pool = ['--benchmark', 'mini', '--programs', 'p.jsonl.gz', '--tests', 't.jsonl'];

  test('programs and tests are run, ranked, graded, kept and drawn; the kept matrices rank the same', async () => {
    file(
      'p.jsonl.gz',
      gzipSync(lines(solutions.map((value) => ({ task_id: 'mini/ring-area', solution: area + value })))),
    );
    file(
      't.jsonl',
      lines([
        {
          task_id: 'ring-area',
          tests: [
            'assert ring_area(1, 1) == 0',
            'assert ring_area(1, 0) > 3',
            'assert ring_area(2, 0) > 12',
            'assert ring_area(3, 1) == 2',
            'assert ring_area(',
          ],
        },
      ]),
    );
    const { code, stdout, stderr } = await project.run(
      'select',
      ...pool,
      '--k',
      '1,2',
      '--diagnose',
      '--json',
      '--keep',
      'kept.jsonl',
      '--picture',
      'picture.html',
    );
    assert.equal(code, 0, stderr);
    assert.match(stderr, /mini\/ring-area: 5 programs, 2 right, 4 tests and 1 that cannot be used/);
    const found = JSON.parse(stdout);
    assert.equal(found.tasks, 1);
    assert.deepEqual(found.methods['aces-c'].passAt, { 1: 1, 2: 1 });
    assert.deepEqual(found.methods.random.passAt, { 1: 0.4, 2: 0.7 });
    assert.deepEqual(Object.keys(found.methods), [
      'aces-o',
      'aces-c',
      'codet',
      'majority',
      'mbr-exec',
      'srank',
      'b4',
      'random',
    ]);
    for (const key of ['passAtIndexOrder', 'passAtCodeT']) assert.equal(found.methods['aces-o'][key][1], 1);
    assert.equal(found.diagnosis.informative, 0.75);
    assert.equal(found.diagnosis.misleading, 0.25);
    const picture = readFileSync(join(project.folder, 'picture.html'), 'utf8');
    assert.match(picture, /Pass@1 against the number of tests/);
    assert.match(picture, /5 programs × 4 tests by aces-o/);

    const again = await project.run('select', '--matrix', 'kept.jsonl', '--k', '1,2', '--diagnose', '--json');
    assert.deepEqual(JSON.parse(again.stdout), found);
    const filtered = await project.json(
      'select',
      '--matrix',
      'kept.jsonl',
      '--method',
      'random',
      '--prefilter',
      'static',
    );
    assert.match(JSON.stringify(filtered), /"random":\{"passAt":\{"1":0.4,.*"random\+static":\{"passAt":\{"1":0.5,/);
  });

  test('without grading nothing but rankings comes out, and no hidden test is run', async () => {
    const { stdout } = await project.run('select', ...pool, '--no-grade', '--method', 'aces-c', '--json');
    const found = JSON.parse(stdout);
    assert.deepEqual(found.rankings, { 'mini/ring-area': { 'aces-c': [1, 2, 0, 3, 4] } });
    assert.deepEqual(found.methods, { 'aces-c': {} });
    const refused = await project.run('select', ...pool, '--no-grade', '--diagnose');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /--diagnose needs the labels that --no-grade leaves out/);
  });
});
