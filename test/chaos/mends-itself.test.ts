import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutDocker } from '../../src/sandbox/testing.ts';
import { held, runChaos } from './run-chaos.ts';

test('a sweep whose worker, Temporal server or Docker goes down ends by itself as an undisturbed one', {
  skip: withoutDocker,
  timeout: 290_000,
}, async (t) => {
  const note = (line: string) => t.diagnostic(line);
  const result = await runChaos({ rounds: 6, seed: 4, victims: ['worker', 'temporal', 'docker'], note });
  assert.ok(held(result), JSON.stringify(result));
  assert.ok(result.kills >= 4 && result.inFlightAtKills > 0, JSON.stringify(result));
});
