import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { workerEnv } from './worker-env.ts';

test('a worker gets what concerns it, in one order, and not the state of a shell', () => {
  const env = {
    TERM: 'xterm',
    PATH: '/bin',
    OPENAI_API_KEY: 'k',
    GROQ_API_KEY: 'g',
    MY_KEY: 'm',
    QUALITYFLOW_DATA_DIR: 'data',
    PWD: '/somewhere',
    UNSET: undefined,
  };
  assert.deepEqual(Object.entries(workerEnv({ env, extra: ['MY_KEY', 'UNSET'] })), [
    ['GROQ_API_KEY', 'g'],
    ['MY_KEY', 'm'],
    ['OPENAI_API_KEY', 'k'],
    ['PATH', '/bin'],
    ['QUALITYFLOW_DATA_DIR', resolve('data')],
  ]);
});
