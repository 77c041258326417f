import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { mergeWorkerEnv, withoutEndpoints, workerEnv } from './worker-env.ts';

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
    DOCKER_HOST: '',
    QUALITYFLOW_HOME: '../there',
  };
  assert.deepEqual(Object.entries(workerEnv({ env, extra: ['MY_KEY', 'UNSET'] })), [
    ['GROQ_API_KEY', 'g'],
    ['MY_KEY', 'm'],
    ['OPENAI_API_KEY', 'k'],
    ['PATH', '/bin'],
    ['QUALITYFLOW_DATA_DIR', resolve('data')],
  ]);
});

const held = {
  PATH: '/bin',
  OPENAI_API_KEY: 'a',
  OPENAI_BASE_URL: 'http://a/v1',
  QUALITYFLOW_DATA_DIR: '/data',
  DOCKER_HOST: 'unix:///a',
  NO_PROXY: 'a',
};

test('what a command does not set, or only a shell does, changes nothing', () => {
  for (const given of [
    {},
    { PATH: '/other', LANG: 'C', HOME: '/h' },
    { PATH: '/o', OPENAI_BASE_URL: 'http://a/v1' },
    held,
  ]) {
    assert.deepEqual(mergeWorkerEnv({ held, given }), { env: held, changed: [] });
  }
});

test('each setting that differs or is new is named; the others stay', () => {
  for (const name of ['QUALITYFLOW_DATA_DIR', 'DOCKER_HOST', 'NO_PROXY', 'HTTPS_PROXY', 'GROQ_API_KEY', 'MY_KEY']) {
    const { env, changed } = mergeWorkerEnv({ held, given: { PATH: '/new', [name]: 'b' } });
    assert.deepEqual(changed, [name]);
    assert.deepEqual(env, { ...held, PATH: '/new', [name]: 'b' });
  }
});

test('a key never goes to an endpoint that it was not given with', () => {
  const elsewhere = mergeWorkerEnv({ held, given: { OPENAI_BASE_URL: 'http://b/v1' } });
  assert.deepEqual(elsewhere.changed, ['OPENAI_BASE_URL']);
  assert.ok(!('OPENAI_API_KEY' in elsewhere.env));
  const otherKey = mergeWorkerEnv({ held, given: { OPENAI_API_KEY: 'b' } });
  assert.ok(!('OPENAI_BASE_URL' in otherKey.env), 'this key is for the default endpoint, not for the one of before');
  assert.equal(otherKey.env.DOCKER_HOST, 'unix:///a');
});

test('no cluster in the environment means the embedded one', () => {
  const cluster = { ...held, TEMPORAL_ADDRESS: 'c:7233', TEMPORAL_API_KEY: 't' };
  const { env, changed } = mergeWorkerEnv({ held: cluster, given: {} });
  assert.deepEqual(changed, ['TEMPORAL_ADDRESS', 'TEMPORAL_API_KEY']);
  const { PATH: _, ...settings } = held;
  assert.deepEqual(env, settings);
});

test('work without endpoints gets no key to one, but the cluster', () => {
  const env = { ...held, GROQ_API_KEY: 'g', TEMPORAL_API_KEY: 't', EDITOR: 'e' };
  assert.deepEqual(Object.keys(withoutEndpoints(env)), [
    'DOCKER_HOST',
    'EDITOR',
    'NO_PROXY',
    'PATH',
    'QUALITYFLOW_DATA_DIR',
    'TEMPORAL_API_KEY',
  ]);
});
