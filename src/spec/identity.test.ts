import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from '../models/canonical-json.ts';
import { diffIdentity, specIdentity } from './identity.ts';
import { parseSpecValue } from './parse-spec.ts';

const surroundings = {
  datasetSha256: 'd1',
  promptVersions: { generator: '1', critic: '1' },
  fingerprint: { python: '3.11.2', numpy: '1.24.2', runnerSha256: 'r1' },
  endpointIdentity: 'http://localhost:1/v1',
};

function spec(change: Record<string, unknown> = {}) {
  const parsed = parseSpecValue({
    name: 'a',
    benchmark: 'mini',
    strategy: 'standard',
    model: { name: 'm' },
    ...change,
  });
  return parsed.kind === 'spec' ? parsed.spec : assert.fail(JSON.stringify(parsed.problems));
}

const hash = (change: Record<string, unknown> = {}, around: Partial<typeof surroundings> = {}) =>
  specIdentity(spec(change), { ...surroundings, ...around }).hash;

test('what changes results changes the hash', () => {
  const changes: Record<string, unknown>[] = [
    { benchmark: 'humaneval' },
    { limit: 3 },
    { shuffle: 1 },
    { tasks: ['mini/a'] },
    { samples: 2 },
    { seed: 1 },
    { strategy: 'zero-shot' },
    { strategy: { preset: 'standard', tqc: false } },
    { strategy: { preset: 'standard', onRevert: 'aces' } },
    { strategy: 'select' },
    { strategy: { kind: 'select', programs: 10 } },
    { model: { name: 'n' } },
    { model: { name: 'm', api: 'completions' } },
    { model: { name: 'm', parameters: { temperature: 0.2 } } },
    { model: { name: 'm', extraBody: { top_k: 1 } } },
    { model: { name: 'm', maxTokens: { critic: 9 } } },
    { model: { name: 'm', contextTokens: 4096 } },
  ];
  const around = [
    { datasetSha256: 'd2' },
    { promptVersions: { generator: '2', critic: '1' } },
    { endpointIdentity: 'scripted' },
    { fingerprint: { ...surroundings.fingerprint, runnerSha256: 'r2' } },
  ];
  const hashes = [hash(), ...changes.map((change) => hash(change)), ...around.map((change) => hash({}, change))];
  assert.equal(new Set(hashes).size, 1 + changes.length + around.length);
});

test('what is operational does not: name, concurrency, budget, prices, waiting times, alias, order of keys, path of an own file', () => {
  assert.equal(hash({ name: 'b' }), hash());
  assert.equal(hash({ concurrency: { problems: 1, requests: 1 } }), hash());
  assert.equal(hash({ budget: { tokens: 5, usd: 1 }, prices: { prompt: 1, completion: 2 } }), hash());
  assert.equal(hash({ maxWait: '5m' }), hash());
  assert.equal(hash({ model: { requestTimeoutMs: 5000, name: 'm', endpoint: 'other' } }), hash());
  assert.equal(
    hash({ model: { name: 'm', parameters: { a: 1, b: 2 } } }),
    hash({ model: { name: 'm', parameters: { b: 2, a: 1 } } }),
  );
  assert.equal(hash({ benchmark: '/x/own.jsonl' }), hash({ benchmark: '/y/moved.jsonl' }));
});

test('a difference names the field and both values', () => {
  const before = specIdentity(spec(), surroundings).identity;
  const after = specIdentity(spec({ strategy: 'zero-shot', seed: 4 }), surroundings).identity;
  const differences = diffIdentity(before, after);
  assert.deepEqual(
    differences.find(({ path }) => path === 'seed'),
    { path: 'seed', before: '0', after: '4' },
  );
  assert.deepEqual(
    differences.find(({ path }) => path === 'strategy.tqc'),
    { path: 'strategy.tqc', before: 'true', after: 'absent' },
  );
  assert.deepEqual(diffIdentity(before, before), []);
});

test('canonical JSON is valid JSON of the same value, whatever the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.parse(JSON.stringify(value));
      assert.deepEqual(JSON.parse(canonicalJson(json)), json);
    }),
  );
  assert.equal(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true }), '{"a":true,"b":[1,{"c":"x","d":null}]}');
});

test('a sweep of before, which did not know what a revert may submit, is the same', () => {
  const now = spec({});
  assert.ok(now.strategy.kind === 'quality-flow');
  const { onRevert: _first, ...before } = now.strategy;
  assert.equal(specIdentity({ ...now, strategy: before }, surroundings).hash, hash());
});
