import assert from 'node:assert/strict';
import test from 'node:test';
import { dataDir, withoutData } from '../../test/support/data.ts';
import { openBenchmark } from '../problems/benchmark.ts';
import { openHiddenTests } from '../problems/hidden.ts';
import { packRows } from './bit-matrix.ts';
import { passMatrix } from './pass-matrix.ts';
import { staticFault, withoutFaults } from './prefilter.ts';
import { selectPool } from './select-pool.ts';

const statement = 'def f(a, b):\n    """ Adds. """\n';
const fault = (source: string) => staticFault({ source, entryPoint: 'f', statement });

const FAULTS: [source: string, fault: string | null][] = [
  ['def f(a, b):\n  return a + b', null],
  ['def f(a, b):\n  return (a +', 'does not parse'],
  ['def g(a, b):\n  return a + b', 'does not define f'],
  ['def f(a, b):\n  pass', 'leaves f empty'],
  ['def f(a, b):\n  """ Adds. """\n  raise NotImplementedError', 'leaves f empty'],
  ['def f(a):\n  return a', 'takes another number of arguments'],
  ['def f(a, b, c):\n  return a', 'takes another number of arguments'],
  ['def f(a, b, c=0):\n  return a + b + c', null],
  ['def f(*all):\n  return sum(all)', null],
  ['f = lambda a, b: a + b', null],
  ['def f(a, b):\n  return add(a, b)', 'uses add, which nothing defines'],
  ['def f(a, b):\n  return math.fsum([a, b])', 'uses math, which nothing defines'],
  ['from math import *\ndef f(a, b):\n  return fsum([a, b])', null],
  ['def f(a, b):\n  return sorted([a, b], key=abs)[0] + max(x for x, y, z in [(a, b, b)])', null],
];

for (const [source, expected] of FAULTS)
  test(`${JSON.stringify(source)}: ${expected ?? 'no fault'}`, () => assert.equal(fault(source), expected));

test('a pool in which every program has a fault keeps them all', () => {
  assert.deepEqual(withoutFaults(['x', null]), [false, true]);
  assert.deepEqual(withoutFaults(['x', 'y']), [true, true]);
});

test('what is dropped comes last, whatever it passes', () => {
  const bits = packRows([
    [1, 1],
    [1, 1],
    [1, 0],
    [0, 0],
  ]);
  const file = { matrix: passMatrix(bits), faults: ['does not parse', 'does not parse', null, null] };
  const { groups, order, scores } = selectPool('majority+static', file, 0);
  assert.deepEqual(groups, [[2], [3], [0, 1]]);
  assert.deepEqual(order, [2, 3, 0, 1]);
  assert.equal(scores[0], Number.NEGATIVE_INFINITY);
  assert.deepEqual(selectPool('majority', file, 0).groups, [[0, 1], [2], [3]]);
});

/** Calls a function that does not exist, in a branch that no test reaches. */
const KNOWN = ['MBPP/218'];

test('reference solutions have no fault', { skip: withoutData }, async () => {
  for (const benchmark of ['humaneval', 'mbpp']) {
    const source = { benchmark, dataDir, home: '' };
    const [problems, hidden] = [await openBenchmark(source), await openHiddenTests(source)];
    const faulty = problems.taskIds.filter((taskId) => {
      const { entryPoint, statement: said } = problems.problem(taskId);
      return staticFault({ source: hidden.hidden(taskId).canonical, entryPoint, statement: said }) !== null;
    });
    assert.deepEqual(faulty, benchmark === 'mbpp' ? KNOWN : []);
  }
});
