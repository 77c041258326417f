import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Graded } from '../grading/verdict.ts';
import { gradeOf, infraGrade, lineOf, resultLine } from './result-line.ts';
import { summariseEvaluation } from './summarise-evaluation.ts';

let next = 0;
const stamp = { limits: 'own', grader: 'g' } as const;
const sample = (taskId: string) => ({ taskId, sample: 0, where: '', sha256: String(++next) });
const line = (taskId: string, graded: Partial<Graded>) =>
  lineOf(sample(taskId), gradeOf({ verdict: 'pass', tests: 1, passed: 1, ...graded }), stamp);
const summary = (lines: ReturnType<typeof line>[], ks = [1, 2]) =>
  summariseEvaluation({ benchmark: { name: 'b', sha256: '', size: 4 }, lines, ks, limits: 'own', grader: 'g' });

test('pass@k over what was attempted, and over all tasks', () => {
  const { attempted, total, samples, passAt, passAtOfTotal, base, plus, verdicts } = summary([
    line('a', {}),
    line('a', { verdict: 'wrong' }),
    line('b', { verdict: 'timeout' }),
    line('b', { verdict: 'wrong' }),
  ]);
  assert.deepEqual([attempted, total, samples, base, plus], [2, 4, 4, null, null]);
  assert.deepEqual(verdicts, { pass: 1, wrong: 2, timeout: 1 });
  assert.deepEqual(
    [passAt, passAtOfTotal],
    [
      { 1: 0.25, 2: 0.5 },
      { 1: 0.125, 2: 0.25 },
    ],
  );
});

test('pass@k is null where a task has fewer than k samples, whatever passed', () => {
  const { passAt, passAtOfTotal } = summary([line('a', {}), line('a', {}), line('b', {})]);
  assert.deepEqual(
    [passAt, passAtOfTotal],
    [
      { 1: 1, 2: null },
      { 1: 0.5, 2: null },
    ],
  );
});

test('base tests alone, and base and plus together', () => {
  const { passAt, base, plus } = summary([
    line('a', { base: 'pass' }),
    line('b', { base: 'pass', verdict: 'wrong' }),
    line('c', { base: 'wrong', verdict: 'wrong' }),
    line('d', { base: 'pass' }),
  ]);
  assert.deepEqual([passAt[1], base?.passAt[1], plus?.passAt[1]], [0.5, 0.75, 0.5]);
});

test('samples that came near a limit of time are counted, and a file of before has none', () => {
  assert.equal(summary([line('a', { nearLimit: true }), line('b', {})]).nearLimit, 1);
  const { nearLimit, ...before } = line('a', { nearLimit: true });
  assert.deepEqual([nearLimit, resultLine.parse(before).nearLimit], [true, false]);
});

test('what the machine could not grade is in no score, and opens an interval', () => {
  const infra = () => lineOf(sample('c'), infraGrade('no daemon'), stamp);
  const some = summary([line('a', {}), line('b', { verdict: 'wrong' }), infra()], [1]);
  assert.deepEqual([some.infra, some.passAt, some.passAtOfTotal], [1, { 1: 0.5 }, { 1: 0.25 }]);
  assert.deepEqual(some.interval, { low: 1 / 3, high: 2 / 3 });
  assert.deepEqual(summary([infra()], [1]).passAt, { 1: null });
});
