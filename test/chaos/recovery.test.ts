import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { startTemporal } from '../support/temporal.ts';
import { measureRecovery, TROUBLES } from './recovery.ts';

/** `npm run chaos -- --scenario …` does the same for a minute. */
describe('an endpoint that was in trouble for ten seconds', { concurrency: true, timeout: 150_000 }, () => {
  let temporal: TestWorkflowEnvironment;
  before(async () => {
    temporal = await startTemporal();
  });
  after(() => temporal.teardown());

  for (const trouble of TROUBLES) {
    test(`${trouble}: within 30 s after it, at least 0.9 of the throughput before`, async (t) => {
      const recovery = await measureRecovery({
        temporal,
        trouble,
        troubleMs: 10_000,
        latencyMs: 2000,
        requests: 6,
        patienceMs: 30_000,
        windowMs: 6000,
        note: (line) => t.diagnostic(line),
      });
      assert.ok(recovery.backAfterMs <= 30_000, JSON.stringify(recovery));
      assert.ok(recovery.refused <= 60, `${recovery.refused} requests to an endpoint that wants none`);
    });
  }
});
