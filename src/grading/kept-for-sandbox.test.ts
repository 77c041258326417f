import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { KeptForSandbox } from './kept-for-sandbox.ts';

const sandbox = (): Sandbox => {
  const never = () => Promise.reject(new Error('not asked for'));
  return { runCalls: never, runStdio: never, runJudge: never, fingerprint: never, close: never };
};

test('values are kept by sandbox and key; the oldest make room', () => {
  const kept = new KeptForSandbox<number>({ bytes: 10 });
  const [one, other] = [sandbox(), sandbox()];
  kept.put(one, 'a', 1, 4);
  kept.put(other, 'a', 9, 4);
  kept.put(one, 'b', 2, 4);
  assert.deepEqual([kept.get(one, 'a'), kept.get(one, 'b'), kept.get(other, 'a')], [1, 2, 9]);
  kept.put(one, 'c', 3, 4);
  assert.deepEqual([kept.get(one, 'a'), kept.get(one, 'b'), kept.get(one, 'c')], [undefined, 2, 3]);
  kept.put(one, 'huge', 4, 11);
  assert.deepEqual([kept.get(one, 'c'), kept.get(one, 'huge'), kept.get(other, 'a')], [undefined, undefined, 9]);
});
