import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { JUDGE_NAMES, testsThatCanRun } from './tests-that-can-run.ts';

test('tests that read a name which nobody defines are left out', () => {
  const tests = [
    'assert f(1) == 2',
    'assert ____ == f(1)',
    'assert f(xs) == 2',
    'assert math.isclose(f(1), 2)',
    'assert f(Point(1)) == half(2)',
    'assert all(f(x) == x for x in range(3))',
    'assert f(',
  ];
  assert.deepEqual(
    testsThatCanRun({
      tests,
      setup: 'def half(n): return n / 2',
      programs: ['def f(x): return x', 'class Point: pass\ndef f(x): return x'],
    }),
    tests.filter((_, at) => at !== 1 && at !== 2),
  );
});

test("the names that the judge imports are the judge's", () => {
  const judge = readFileSync(join(import.meta.dirname, '../grading/judge/replay.py'), 'utf8');
  const lists = [...judge.slice(judge.indexOf('MODULES ='), judge.indexOf('WORD =')).matchAll(/"([\w ]+)"/g)];
  const words = new Set(lists.flatMap(([, list = '']) => list.split(' ')));
  assert.ok(words.size > 30);
  assert.deepEqual(new Set([...words, 'np']), new Set(JUDGE_NAMES));
});
