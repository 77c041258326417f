import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutDocker } from '../../src/sandbox/testing.ts';
import { held, runChaos } from './run-chaos.ts';

test('a sweep whose supervisor or command was killed, also while it was resumed, ends as an undisturbed one', {
  skip: withoutDocker,
  timeout: 290_000,
}, async (t) => {
  const note = (line: string) => t.diagnostic(line);
  const result = await runChaos({ rounds: 4, seed: 5, victims: ['supervisor', 'cli'], note });
  assert.ok(held(result), JSON.stringify(result));
  assert.ok(result.kills >= 3 && result.inFlightAtKills > 0, JSON.stringify(result));
});
