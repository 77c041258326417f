import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyError, modelError } from './classify-error.ts';

const byStatus: [status: number, kind: string][] = [
  [301, 'unavailable'],
  [400, 'rejected'],
  [401, 'unauthorized'],
  [402, 'quota'],
  [403, 'unauthorized'],
  [404, 'unknown_model'],
  [405, 'rejected'],
  [408, 'unavailable'],
  [409, 'unavailable'],
  [413, 'rejected'],
  [422, 'rejected'],
  [425, 'unavailable'],
  [429, 'rate_limited'],
  [498, 'unavailable'],
  [500, 'unavailable'],
  [502, 'unavailable'],
  [503, 'unavailable'],
  [504, 'unavailable'],
  [529, 'unavailable'],
];

for (const [status, kind] of byStatus) {
  test(`HTTP ${status} with nothing further is ${kind}`, () =>
    assert.equal(classifyError({ status, message: '' }), kind));
}

const byWords: [what: string, problem: Parameters<typeof classifyError>[0], kind: string][] = [
  ['a used-up quota', { status: 429, code: 'insufficient_quota', message: 'You exceeded your current quota' }, 'quota'],
  ['a context overflow by code', { status: 400, code: 'context_length_exceeded', message: '' }, 'context_too_long'],
  [
    'a context overflow of vLLM',
    { status: 400, message: "This model's maximum context length is 2048 tokens." },
    'context_too_long',
  ],
  [
    'a context overflow of llama.cpp',
    { status: 400, type: 'exceed_context_size_error', message: 'the request exceeds the available context size' },
    'context_too_long',
  ],
  [
    'a context overflow as HTTP 500',
    { status: 500, message: 'input is larger than the context window' },
    'context_too_long',
  ],
  ['an unknown model as HTTP 400', { status: 400, message: 'The model `x` does not exist' }, 'unknown_model'],
  [
    'a content-policy refusal',
    { status: 400, code: 'content_policy_violation', message: 'model not supported: content policy' },
    'rejected',
  ],
  ['one flagged prompt', { status: 403, message: 'Input was flagged by moderation' }, 'rejected'],
  ['an error without a status', { status: undefined, message: 'something' }, 'malformed'],
  [
    'an overload without a status',
    { status: undefined, type: 'overloaded_error', message: 'Overloaded' },
    'unavailable',
  ],
  ['a rate limit without a status', { status: undefined, code: 'rate_limit_exceeded', message: '' }, 'rate_limited'],
  ['a wrong key without a status', { status: undefined, code: 'invalid_api_key', message: '' }, 'unauthorized'],
];

for (const [what, problem, kind] of byWords)
  test(`${what} is ${kind}`, () => assert.equal(classifyError(problem), kind));

test('the error says who answered what, without keys and control characters', () => {
  const error = modelError(
    { status: 401, message: 'Incorrect key \u001b[2Jsecret-1234 or sk-ab****yz' },
    { where: 'http://h/v1', secrets: ['secret-1234'] },
  );
  assert.equal(error.message, 'http://h/v1 answered HTTP 401: Incorrect key [2J[key] or [key]');
  assert.equal(error.kind, 'unauthorized');
  assert.equal(error.retryable, false);
});
