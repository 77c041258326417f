import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatorPrompt } from '../agents/generator.ts';
import { requestBody } from '../models/request-key.ts';
import type { Problem } from '../problems/problem.ts';
import { parseSpecValue } from '../spec/parse-spec.ts';
import { asksGreedily } from './greedy.ts';

test('greedy is what is sent with temperature 0, whoever says so', () => {
  const problem: Problem = {
    taskId: 'a',
    kind: 'function',
    entryPoint: 'f',
    form: 'description',
    statement: 'Write f.',
    preamble: '',
    visibleTests: [],
  };
  const prompt = generatorPrompt({ problem, prompt: 0, api: 'chat' });
  for (const [fields, greedy] of [
    [{}, true],
    [{ parameters: { temperature: 0 } }, true],
    [{ parameters: { temperature: 0.8 } }, false],
    [{ parameters: { temperature: null } }, false],
    [{ extraBody: { temperature: 0.2 } }, false],
    [{ parameters: { temperature: 0.8 }, extraBody: { temperature: 0 } }, true],
  ] as const) {
    const parsed = parseSpecValue({
      name: 'a',
      benchmark: 'mini',
      strategy: 'zero-shot',
      model: { name: 'm', ...fields },
    });
    assert.ok(parsed.kind === 'spec', JSON.stringify(parsed));
    const settings = parsed.spec.model;
    assert.equal(asksGreedily(settings), greedy, JSON.stringify(fields));
    assert.equal(requestBody({ settings, prompt, seed: 0, sample: 1, retry: 0 }).temperature === 0, greedy);
  }
});
