import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { actualCost, boundOf, costOf, mayHaveCost } from './cost.ts';
import { ModelError, type ModelReply, type ModelRequest } from './model.ts';

function request(change: { settings?: Partial<ModelRequest['settings']>; text?: string } = {}): ModelRequest {
  return {
    settings: {
      endpoint: 'default',
      name: 'm',
      api: 'chat',
      parameters: {},
      extraBody: {},
      maxTokens: {},
      requestTimeoutMs: 1000,
      ...change.settings,
    },
    prompt: {
      version: 'generator/0@1',
      agent: 'generator',
      messages: [{ role: 'user', content: change.text ?? 'hello' }],
      temperature: 0,
      maxTokens: 500,
    },
    seed: 0,
    sample: 0,
    retry: 0,
  };
}

function reply(usage: ModelReply['usage']): ModelReply {
  return { kind: 'ok', text: 't', reasoning: '', finishReason: 'stop', usage, model: 'm', latencyMs: 1 };
}

test('money is whole micro-dollars, rounded up, exact where floating point is not', () => {
  const cases: [tokens: { prompt: number; completion: number }, prices: [number, number], microUsd: number][] = [
    [{ prompt: 0, completion: 0 }, [0.15, 0.6], 0],
    [{ prompt: 1_000_000, completion: 0 }, [0.15, 0.6], 150_000],
    [{ prompt: 1, completion: 0 }, [0.15, 0.6], 1],
    [{ prompt: 30, completion: 0 }, [0.1, 0], 3], // 30 × 0.1 = 3.0000000000000004 in floating point
    [{ prompt: 20, completion: 5 }, [0.15, 0.6], 6],
    [{ prompt: 20, completion: 6 }, [0.15, 0.6], 7],
    [{ prompt: 2_000_000, completion: 1_000_000 }, [2.5, 10], 15_000_000],
  ];
  for (const [tokens, [prompt, completion], microUsd] of cases) {
    assert.deepEqual(costOf(tokens, { prompt, completion }), { tokens: tokens.prompt + tokens.completion, microUsd });
  }
  assert.deepEqual(costOf({ prompt: 7, completion: 3 }, undefined), { tokens: 10, microUsd: 0 });
});

test('the bound covers every byte of the prompt, and the reply by whatever limits it', () => {
  const prices = { prompt: 1, completion: 2 };
  const base = boundOf(request(), prices).tokens;
  assert.ok(base > 500 + 'hello'.length && base < 500 + 200, String(base));
  assert.equal(boundOf(request({ text: 'hello€' }), prices).tokens, base + 3);
  const limited: [Partial<ModelRequest['settings']>, reply: number][] = [
    [{ parameters: { max_tokens: 100 } }, 100],
    [{ parameters: { max_completion_tokens: 120 } }, 120],
    [{ parameters: { max_tokens: 100 }, maxTokens: { generator: 300 } }, 300],
    [{ extraBody: { max_tokens: 900 } }, 900],
    [{ parameters: { max_tokens: null }, contextTokens: 4096 }, 4096],
    [{ parameters: { max_tokens: 100 }, extraBody: { best_of: 3 } }, 300],
  ];
  for (const [settings, replyTokens] of limited) {
    const { tokens, microUsd } = boundOf(request({ settings }), prices);
    const prompt = tokens - replyTokens;
    assert.ok(prompt >= 'hello'.length && prompt < 200, JSON.stringify([settings, tokens]));
    assert.equal(microUsd, prompt + 2 * replyTokens);
  }
});

test('the bound is never below what a tokenizer of bytes and a full reply would cost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const bytes = Buffer.byteLength(text.toWellFormed());
      assert.ok(boundOf(request({ text }), undefined).tokens >= bytes + 500);
    }),
  );
});

test('the actual cost is what was reported, else the bound', () => {
  const bound = { tokens: 900, microUsd: 90 };
  const prices = { prompt: 0.5, completion: 1.5 };
  assert.deepEqual(actualCost(reply({ prompt: 10, completion: 4 }), bound, prices), { tokens: 14, microUsd: 11 });
  assert.deepEqual(actualCost(reply(null), bound, prices), bound);
  const absurd = actualCost(reply({ prompt: Number.MAX_SAFE_INTEGER, completion: 1 }), bound, prices);
  assert.ok(Number.isSafeInteger(1000 * absurd.tokens) && Number.isSafeInteger(1000 * absurd.microUsd));
});

test('what may be on the bill, by class', () => {
  const http = (status: number | undefined) => new ModelError('unavailable', 'x', { status });
  const free = [301, 400, 401, 402, 403, 404, 409, 413, 422, 425, 429, 498, 501, 503, 505, 529];
  for (const status of free) assert.equal(mayHaveCost(http(status), { sent: true }), false, String(status));
  const perhaps = [200, 204, 408, 500, 502, 504, 507, 520, 524, undefined];
  for (const status of perhaps) assert.equal(mayHaveCost(http(status), { sent: true }), true, String(status));
  assert.equal(mayHaveCost(new Error('cancelled'), { sent: true }), true);
  for (const error of [http(undefined), http(200), new Error('cancelled')])
    assert.equal(mayHaveCost(error, { sent: false }), false);
});
