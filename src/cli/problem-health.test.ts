import assert from 'node:assert/strict';
import { test } from 'node:test';
import { msOptionalToTs, msToTs } from '@temporalio/common/lib/time.js';
import { retryOf } from './problem-health.ts';

const NOW_MS = 1_700_000_000_000;

function pending(attempt: number, message: string | undefined, more: { nextMs?: number; askedWaitMs?: number } = {}) {
  const { nextMs, askedWaitMs } = more;
  return {
    attempt,
    ...(message === undefined
      ? {}
      : { lastFailure: { message, applicationFailureInfo: { nextRetryDelay: msOptionalToTs(askedWaitMs) ?? null } } }),
    ...(nextMs === undefined ? {} : { nextAttemptScheduleTime: msToTs(nextMs) }),
  };
}

test('of the activities that are tried again, the one that failed most often tells why', () => {
  const pendingActivities = [
    pending(2, 'once', { nextMs: NOW_MS + 1000 }),
    pending(7, 'often', { nextMs: NOW_MS + 20_000 }),
    pending(9, undefined),
  ];
  assert.deepEqual(retryOf({ pendingActivities }, NOW_MS), { reason: 'often', attempt: 7, nextInMs: 20_000 });
});

test('an attempt whose time has come is under way, and a long message is cut', () => {
  const pendingActivities = [pending(3, 'x'.repeat(5000), { nextMs: NOW_MS - 1 })];
  assert.deepEqual(retryOf({ pendingActivities }, NOW_MS), { reason: 'x'.repeat(200), attempt: 3, nextInMs: null });
});

test('a first attempt, and a wait that the endpoint asked for, are no retries', () => {
  assert.equal(retryOf({ pendingActivities: [pending(1, undefined)] }, NOW_MS), undefined);
  const asked = pending(4, 'HTTP 429', { nextMs: NOW_MS + 60_000, askedWaitMs: 60_000 });
  assert.equal(retryOf({ pendingActivities: [asked] }, NOW_MS), undefined);
  assert.equal(retryOf({}, NOW_MS), undefined);
});
