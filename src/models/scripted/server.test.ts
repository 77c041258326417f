import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { askModel } from '../ask-model.ts';
import { resolveEndpoint } from '../endpoints.ts';
import type { ModelReply, ModelRequest } from '../model.ts';
import { probeEndpoint } from '../probe.ts';
import { startScriptedModel } from './server.ts';

function request(content: string, maxTokens = 400): ModelRequest {
  return {
    settings: {
      endpoint: 'scripted',
      name: 'scripted',
      api: 'chat',
      parameters: {},
      extraBody: {},
      maxTokens: {},
      requestTimeoutMs: 5000,
    },
    prompt: {
      version: 'generator/0@1',
      agent: 'generator',
      messages: [{ role: 'user', content }],
      temperature: 0,
      maxTokens,
    },
    seed: 0,
    sample: 0,
    retry: 0,
  };
}

const noStore = { getReply: async () => undefined, putReply: async () => undefined };

function ask(url: string, one: ModelRequest): Promise<ModelReply> {
  const endpoint = resolveEndpoint({ endpoint: 'scripted', env: {}, scriptedUrl: url });
  return askModel({ request: one, endpoint, replies: noStore, signal: new AbortController().signal }).then(
    ({ reply }) => reply,
  );
}

test('the same request gets the same reply, from another server too, and each arrival is counted', async () => {
  await using stack = new AsyncDisposableStack();
  const servers = await Promise.all([startScriptedModel(), startScriptedModel()]);
  for (const server of servers) stack.defer(() => server.close());
  const [one, other] = servers;
  assert.ok(one && other);
  const question = request('You are a Python programmer. Write the Python function flatten.\n\ndef flatten(items):');
  const replies = [await ask(one.url, question), await ask(one.url, question), await ask(other.url, question)];
  assert.deepEqual(new Set(replies.map((reply) => JSON.stringify({ ...reply, latencyMs: 0 }))).size, 1);
  assert.match(replies[0]?.text ?? '', /def flatten/);
  assert.ok((replies[0]?.usage?.prompt ?? 0) > 0 && (replies[0]?.usage?.completion ?? 0) > 0);
  assert.deepEqual(Object.values(one.arrivals()), [2]);
  const published: unknown = await (await fetch(one.url.replace('/v1', '/arrivals'))).json();
  assert.partialDeepStrictEqual(published, { total: 2, open: 0, completed: 2, counts: one.arrivals() });
});

test('a reply longer than max_tokens is cut and says so', async () => {
  const model = await startScriptedModel();
  const reply = await ask(model.url, request('You are a Python programmer. def flatten(items):', 5));
  await model.close();
  assert.deepEqual([reply.kind, reply.finishReason, reply.usage?.completion], ['truncated', 'length', 5]);
});

test('the probe accepts it, health answers, and what is no request is refused', async () => {
  const model = await startScriptedModel();
  const endpoint = resolveEndpoint({ endpoint: 'default', env: {}, scriptedUrl: model.url });
  assert.deepEqual(await probeEndpoint({ endpoint, model: 'whatever' }), { kind: 'ok', scripted: true });
  assert.equal((await fetch(model.url.replace('/v1', '/health'))).status, 200);
  assert.equal((await fetch(`${model.url}/nothing`)).status, 404);
  for (const body of ['', '[]', '{"messages":1}', '{']) {
    assert.equal((await fetch(`${model.url}/chat/completions`, { method: 'POST', body })).status, 400, body);
  }
  assert.deepEqual(model.arrivals(), {});
  await model.close();
});

test('plain completions are served', async () => {
  const model = await startScriptedModel();
  const prompt = 'def running_means(values: list[float]) -> list[float]:\n    """Means.\n    """\n';
  const one = request(prompt);
  const reply = await ask(model.url, { ...one, settings: { ...one.settings, api: 'completions' } });
  await model.close();
  assert.match(reply.text, /^ {4}means: list\[float\] = \[\]/);
});

test('latency is waited out', async () => {
  const model = await startScriptedModel({ latencyMs: 120 });
  const reply = await ask(model.url, request('hello'));
  await model.close();
  assert.ok(reply.latencyMs >= 115, String(reply.latencyMs));
});

test('as a process it prints its URL and ends on SIGTERM', async () => {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const url = String(line).trim();
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  assert.equal((await ask(url, request('hello'))).kind, 'ok');
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
});
