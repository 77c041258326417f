import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { terminalSafe } from '../reports/terminal-safe.ts';
import { type Grade, gradeOf, infraGrade, lineOf } from './result-line.ts';
import { ResultsFile } from './results-file.ts';
import { SamplesError } from './samples-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'qualityflow-results-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 's.results.jsonl');

const pass = gradeOf({ verdict: 'pass', tests: 3, passed: 3, base: 'pass' });
const line = (sha256: string, grade: Grade = pass, grader = 'g1') =>
  lineOf({ taskId: 't', sample: 0, where: 's:1', sha256 }, grade, { limits: 'own', grader });

test('lines come back by sha, for the same grader only, and what the machine could not grade does not', () => {
  const file = new ResultsFile(path);
  assert.equal(file.earlier('g1').size, 0);
  file.begin([line('a')]);
  file.add([line('b'), line('c', infraGrade('no daemon'))]);
  file.add([line('d', pass, 'g0')]);
  file.close();
  assert.deepEqual([...file.earlier('g1').keys()], ['a', 'b']);
  assert.equal(file.earlier('g1').get('b')?.plus, 'pass');
  assert.deepEqual([...file.earlier('g0').keys()], ['d']);
});

test('verdicts of another grader are kept in a file of their own before they are replaced', (t) => {
  const apart = mkdtempSync(join(tmpdir(), 'qualityflow-results-'));
  t.after(() => rmSync(apart, { recursive: true, force: true }));
  const other = join(apart, 's.results.jsonl');
  writeFileSync(other, `${JSON.stringify(line('a', pass, 'g0'))}\n`);
  const file = new ResultsFile(other);
  assert.equal(file.earlier('g1').size, 0);
  const aside = file.setStrangersAside() ?? '';
  file.replace([line('a')]);
  assert.deepEqual([...new ResultsFile(aside).earlier('g0').keys()], ['a']);
  assert.equal(file.earlier('g1').size, 1);
  assert.equal(file.setStrangersAside(), undefined);
});

test('a torn last line is one that was never written, wherever it is torn', () => {
  const whole = `${JSON.stringify(line('a'))}\n`;
  const second = `${JSON.stringify(line('b'))}\n`;
  for (let length = 0; length < second.length; length += 7) {
    writeFileSync(path, whole + second.slice(0, length));
    assert.deepEqual([...new ResultsFile(path).earlier('g1').keys()], ['a']);
  }
  writeFileSync(path, '{"task_id":"t","sam');
  assert.equal(new ResultsFile(path).earlier('g1').size, 0);
});

test('a file that holds anything else is refused and left as it is', () => {
  for (const content of ['{"task_id":"HumanEval/0","completion":"x"}\n', 'notes', `${JSON.stringify(line('a'))}\n\n`]) {
    writeFileSync(path, content);
    assert.throws(() => new ResultsFile(path).earlier('g1'), SamplesError);
    assert.equal(readFileSync(path, 'utf8'), content);
  }
});

test('the end replaces everything in one step and leaves nothing beside it', () => {
  rmSync(path);
  const file = new ResultsFile(path);
  file.begin([]);
  file.add([line('b')]);
  appendFileSync(path, 'torn');
  file.replace([line('a'), line('b')]);
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 3);
  assert.deepEqual(readdirSync(folder), ['s.results.jsonl']);
  assert.throws(() => new ResultsFile(join(folder, 'none', 'x')).begin([]), { code: 'ENOENT' });
  assert.ok(!existsSync(join(folder, 'none')));
});

test('what a program returned cannot reach into a terminal, and reads the same', () => {
  const actual = '\u001b]0;x\u0007 \u202e \u009b2J \u2028';
  const wrong = gradeOf({
    verdict: 'wrong',
    tests: 1,
    passed: 0,
    firstFailure: { status: 'fail', test: 'f(1)', actual },
  });
  new ResultsFile(path).replace([line('a', wrong)]);
  assert.equal(terminalSafe(readFileSync(path, 'utf8')), readFileSync(path, 'utf8'));
  assert.equal(new ResultsFile(path).earlier('g1').get('a')?.firstFailure?.actual, actual);
});
