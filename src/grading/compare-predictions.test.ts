import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { testSandbox, withoutDocker } from '../sandbox/testing.ts';
import { comparePredictions } from './compare-predictions.ts';

describe('imagined outputs are decided by value', { skip: withoutDocker }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await testSandbox();
  });
  after(() => sandbox.close());

  test('the original assertion decides', async () => {
    const cases: [prediction: string, comparison: string, holds: boolean][] = [
      ['math.pi / 2', 'math.isclose(__prediction__, 1.5707963267948966)', true],
      ['{"b": 2, "a": 1}', '__prediction__ == {"a": 1, "b": 2}', true],
      ['[1, 2]', '__prediction__ == [2, 1]', false],
      ['[1, 2]', 'set(__prediction__) == {1, 2}', true],
      [' 3 ', '__prediction__ == 3', true],
      ['"tset"', '__prediction__ == "test"', false],
      ['True', '__prediction__', true],
      ['[]', 'not __prediction__', true],
      ['x + 1', '__prediction__ == 1', false],
      ['', '__prediction__ == 1', false],
      ['1; 2', '__prediction__ == 1', false],
      ['x = 1', '__prediction__ == 1', false],
      ['1 / 0', '__prediction__ == 1', false],
      ['1', '__prediction__.nothing', false],
      ['1', 'not an expression', false],
      ['exit()', '__prediction__ == 1', false],
      ['f(3)', '__prediction__ == 3', false],
      ['\0\ud800', '__prediction__ == 1', false],
    ];
    const predictions = cases.map(([prediction, comparison]) => ({ prediction, comparison }));
    assert.deepEqual(
      await comparePredictions({ sandbox, predictions }),
      cases.map(([, , holds]) => holds),
    );
  });

  test('a prediction that hangs, or ends the process, is false and its neighbours are not', async () => {
    const sources = ['1', '__import__("os")._exit(0)', '[x for x in iter(int, 1)]', '9 ** 9 ** 9', '1'];
    const predictions = sources.map((prediction) => ({ prediction, comparison: '__prediction__ == 1' }));
    assert.deepEqual(await comparePredictions({ sandbox, predictions }), [true, false, false, false, true]);
  });

  test('waiting costs a prediction nothing: its time is CPU time', async () => {
    const predictions = [{ prediction: '__import__("time").sleep(2.5) or 1', comparison: '__prediction__ == 1' }];
    assert.deepEqual(await comparePredictions({ sandbox, predictions }), [true]);
  });

  test('nothing to compare is nothing', async () => {
    assert.deepEqual(await comparePredictions({ sandbox, predictions: [] }), []);
  });
});
