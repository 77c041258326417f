import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EndpointError, resolveEndpoint } from './endpoints.ts';

const key = { OPENAI_API_KEY: 'k-123' };

test('with neither variable set, default is the scripted model and says so', () => {
  const endpoint = resolveEndpoint({
    endpoint: 'default',
    env: { OPENAI_API_KEY: ' ' },
    scriptedUrl: 'http://127.0.0.1:1/v1',
  });
  assert.deepEqual(endpoint, {
    alias: 'default',
    baseURL: 'http://127.0.0.1:1/v1',
    apiKey: undefined,
    keyEnv: undefined,
    identity: 'scripted',
    scripted: true,
  });
});

test('a key alone means OpenAI; a base URL alone needs no key', () => {
  const openai = resolveEndpoint({ endpoint: 'default', env: key });
  assert.equal(openai.baseURL, 'https://api.openai.com/v1');
  assert.equal(openai.apiKey, 'k-123');
  const local = resolveEndpoint({ endpoint: 'default', env: { OPENAI_BASE_URL: 'http://localhost:8080/v1/' } });
  assert.deepEqual(
    [local.baseURL, local.identity, local.apiKey, local.scripted],
    ['http://localhost:8080/v1', 'http://localhost:8080/v1', undefined, false],
  );
});

test('a literal URL never receives a key, and its identity has no query', () => {
  const endpoint = resolveEndpoint({ endpoint: 'https://evil.example/v1?a=b#c', env: key });
  assert.equal(endpoint.apiKey, undefined);
  assert.equal(endpoint.baseURL, 'https://evil.example/v1?a=b');
  assert.equal(endpoint.identity, 'https://evil.example/v1');
});

test('a configured alias takes the key its configuration names, and no other', () => {
  const configured = {
    fast: { baseURL: 'https://a.example/v1', keyEnv: 'FAST_KEY' },
    open: { baseURL: 'http://b/v1' },
  };
  const env = { ...key, FAST_KEY: 'f-1\n' };
  assert.equal(resolveEndpoint({ endpoint: 'fast', env, configured }).apiKey, 'f-1');
  assert.equal(resolveEndpoint({ endpoint: 'open', env, configured }).apiKey, undefined);
  assert.equal(resolveEndpoint({ endpoint: 'scripted', env, configured }).scripted, true);
});

test('what cannot be an endpoint is refused without showing credentials', () => {
  const refused = (endpoint: string, env = {}) => {
    assert.throws(
      () => resolveEndpoint({ endpoint, env }),
      (error) => error instanceof EndpointError && error.remedy !== '' && !error.message.includes('pass'),
    );
  };
  refused('constructor');
  refused('ftp://host');
  refused('https://user:pass@host/v1');
  refused('default', { OPENAI_BASE_URL: 'localhost:8080' });
  refused('default', { OPENAI_BASE_URL: 'not a url pass' });
});
