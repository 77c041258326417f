import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { watchRequestLimits } from './request-limits.ts';

test('an endpoint gets what its running sweeps configure, less while it is in trouble, and others are not touched', async () => {
  const notes: string[] = [];
  const running = [
    { endpoint: 'default', requests: 4 },
    { endpoint: 'default', requests: 16 },
    { endpoint: 'scripted', requests: 8 },
  ];
  const limits = await watchRequestLimits({ runningLimits: async () => running }, (line) => notes.push(line));
  try {
    assert.deepEqual([limits.of('default'), limits.of('scripted')], [16, 8]);
    limits.report('default', { kind: 'rate_limited', startedAtMs: performance.now() });
    assert.deepEqual([limits.of('default'), limits.of('scripted')], [8, 8]);
    assert.deepEqual(notes, ['qualityflow-model-default: 8 requests at once: too many requests (429)']);
    for (let answer = 0; answer < 200; answer++)
      limits.report('default', { kind: 'answered', startedAtMs: performance.now() });
    assert.equal(limits.of('default'), 16);
    running[1] = { endpoint: 'default', requests: 40 };
    await delay(1200);
    assert.equal(limits.of('default'), 40, 'without trouble a raised limit counts at once');
  } finally {
    limits.stop();
  }
});
