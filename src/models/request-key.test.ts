import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';
import type { ModelRequest, ModelSettings, Prompt } from './model.ts';
import { effectiveParameters, requestBody, requestKey } from './request-key.ts';

const settings: ModelSettings = {
  endpoint: 'default',
  name: 'm',
  api: 'chat',
  parameters: {},
  extraBody: {},
  maxTokens: {},
  requestTimeoutMs: 1000,
};
const prompt: Prompt = {
  version: 'generator/0@1',
  agent: 'generator',
  messages: [{ role: 'user', content: 'hi' }],
  temperature: 0,
  maxTokens: 100,
  stop: ['\n'],
};
const base: ModelRequest = { settings, prompt, seed: 0, sample: 0, retry: 0 };
const key = (request: ModelRequest, endpointIdentity = 'http://h/v1') => requestKey({ request, endpointIdentity });
const withSettings = (change: Partial<ModelSettings>): ModelRequest => ({
  ...base,
  settings: { ...settings, ...change },
});
const withPrompt = (change: Partial<Prompt>): ModelRequest => ({ ...base, prompt: { ...prompt, ...change } });

test('the agent bound wins over the parameters, those over the prompt', () => {
  assert.deepEqual(effectiveParameters(base), { temperature: 0, max_tokens: 100 });
  const given = { temperature: 0.5, max_tokens: 50, top_p: 0.9 };
  assert.deepEqual(effectiveParameters(withSettings({ parameters: given })), { ...given, seed: 0 });
  assert.equal(effectiveParameters(withSettings({ parameters: given, maxTokens: { generator: 7 } })).max_tokens, 7);
  assert.equal(effectiveParameters(withSettings({ parameters: given, maxTokens: { critic: 7 } })).max_tokens, 50);
});

test('max_completion_tokens of a spec replaces max_tokens, and a null is not sent', () => {
  const parameters = effectiveParameters(withSettings({ parameters: { max_completion_tokens: 9, temperature: null } }));
  assert.deepEqual(parameters, { max_completion_tokens: 9 });
});

test('a seed is sent only above temperature 0 and differs by sample and retry', () => {
  const warm = { ...withSettings({ parameters: { temperature: 0.8 } }), seed: 5, sample: 2, retry: 1 };
  assert.equal(effectiveParameters(warm).seed, 2006);
  assert.equal('seed' in effectiveParameters({ ...base, sample: 2 }), false);
});

test('stop words are sent in completions mode only', () => {
  assert.equal('stop' in requestBody(base), false);
  const body = requestBody(withSettings({ api: 'completions' }));
  assert.deepEqual([body.stop, body.prompt, 'messages' in body], [['\n'], 'hi', false]);
});

test('extraBody passes through but cannot replace what this client sets', () => {
  const extraBody = { top_k: 3, stream: true, n: 9, model: 'other', messages: [], seed: 5 };
  const body = requestBody(withSettings({ extraBody, parameters: { seed: 5, prompt: 'x', stream_options: {} } }));
  assert.deepEqual(body, {
    temperature: 0,
    max_tokens: 100,
    top_k: 3,
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
  });
});

test('everything that determines a request changes its key', () => {
  const variants = [
    key(base),
    key(base, 'http://other/v1'),
    key(withSettings({ name: 'm2' })),
    key(withSettings({ api: 'completions' })),
    key(withSettings({ parameters: { temperature: 0.5 } })),
    key(withSettings({ extraBody: { top_k: 1 } })),
    key(withSettings({ maxTokens: { generator: 5 } })),
    key(withPrompt({ version: 'generator/0@2' })),
    key(withPrompt({ messages: [{ role: 'system', content: 'hi' }] })),
    key({ ...base, seed: 1 }),
    key({ ...base, sample: 1 }),
    key({ ...base, retry: 1 }),
  ];
  assert.equal(new Set(variants).size, variants.length);
});

test('what does not determine the reply does not change the key', () => {
  const reference = key(base);
  assert.equal(key(withSettings({ requestTimeoutMs: 5, endpoint: 'alias', maxTokens: { critic: 5 } })), reference);
  assert.equal(key(withPrompt({ stop: undefined })), reference);
  assert.equal(
    key(withSettings({ extraBody: { b: 1, a: { d: 1, c: 2 } } })),
    key(withSettings({ extraBody: { a: { c: 2, d: 1 }, b: 1 } })),
  );
});

test('a lone surrogate is hashed as it is sent', () => {
  const torn = withPrompt({ messages: [{ role: 'user', content: 'a\ud800b\0' }] });
  assert.deepEqual(requestBody(torn).messages, [{ role: 'user', content: 'a\ufffdb\0' }]);
  assert.equal(key(torn), key(withPrompt({ messages: [{ role: 'user', content: 'a\ufffdb\0' }] })));
});

test('canonical JSON is JSON, and the same after a round trip', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = JSON.parse(JSON.stringify(value));
      assert.deepEqual(JSON.parse(canonicalJson(plain)), plain);
      assert.equal(canonicalJson(JSON.parse(canonicalJson(plain))), canonicalJson(plain));
    }),
    { numRuns: 100 },
  );
});
