import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarise } from './summarise.ts';
import type { TestResult, Verdict } from './verdict.ts';

const results = (...statuses: TestResult['status'][]): TestResult[] =>
  statuses.map((status) => ({ status, test: status }));

test('the first test that the program failed decides', () => {
  const cases: [TestResult['status'][], Verdict][] = [
    [['pass', 'pass'], 'pass'],
    [['pass', 'fail', 'error'], 'wrong'],
    [['error', 'fail'], 'error'],
    [['timeout', 'not_run', 'not_run'], 'timeout'],
    [['pass', 'not_run'], 'error'],
    [['memory_limit'], 'memory_limit'],
    [['pass', 'output_limit'], 'output_limit'],
    [['invalid_test', 'fail'], 'wrong'],
  ];
  for (const [statuses, verdict] of cases)
    assert.equal(summarise(results(...statuses)).verdict, verdict, statuses.join());
});

test('a pass needs every test, and at least one', () => {
  const none = summarise([]);
  assert.deepEqual([none.verdict, none.tests, none.passed], ['invalid_test', 0, 0]);
  for (const statuses of [['invalid_test'], ['pass', 'invalid_test']] as const) {
    const graded = summarise(results(...statuses));
    assert.equal(graded.verdict, 'invalid_test');
    assert.notEqual(graded.firstFailure?.status, 'pass');
  }
});

test('a grade is near a limit of time where a test up to the one that decided was', () => {
  const near = (status: TestResult['status']): TestResult => ({ status, test: 'x', nearLimit: true });
  const cases: [results: TestResult[], nearLimit: true | undefined][] = [
    [[...results('pass'), near('pass')], true],
    [[near('pass'), ...results('fail')], true],
    [[...results('fail'), near('pass')], undefined],
    [results('pass', 'timeout'), undefined],
  ];
  for (const [tests, nearLimit] of cases) assert.equal(summarise(tests).nearLimit, nearLimit, JSON.stringify(tests));
});

test('a grade is forgeable where its verdict rests on a forgeable result', () => {
  const forged = (status: TestResult['status']): TestResult => ({ status, test: 'x', forgeable: true });
  const cases: [results: TestResult[], forgeable: true | undefined][] = [
    [[forged('pass'), ...results('pass')], true],
    [results('pass'), undefined],
    [[forged('fail'), ...results('fail')], true],
    [[...results('fail'), forged('fail')], undefined],
    [[forged('pass'), ...results('fail')], undefined],
  ];
  for (const [tests, forgeable] of cases) assert.equal(summarise(tests).forgeable, forgeable, JSON.stringify(tests));
});
