import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutDocker } from '../../src/sandbox/testing.ts';
import { held, runChaos } from './run-chaos.ts';

/** Longer than any heartbeat may be away. */
const STOP_MS = 15_000;

test('a sweep whose whole machine was suspended, or one of its workers, ends by itself as an undisturbed one', {
  skip: withoutDocker,
  timeout: 290_000,
}, async (t) => {
  const note = (line: string) => t.diagnostic(line);
  const result = await runChaos({
    rounds: 2,
    seed: 2,
    victims: ['machine', 'one-of-two-workers'],
    stopMs: STOP_MS,
    note,
  });
  assert.ok(held(result), JSON.stringify(result));
  assert.ok(result.kills === 2 && result.inFlightAtKills > 0, JSON.stringify(result));
});
