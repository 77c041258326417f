import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standing } from './standing.ts';

const running = { name: 'he', state: 'running', stateReason: '' } as const;
const nothing = { tokens: 0, microUsd: 0 };
const spent = {
  settled: nothing,
  open: nothing,
  possiblyCharged: { ...nothing, requests: 0 },
  cap: { tokens: null, microUsd: null },
};
const calm = { paced: undefined, awaitBudget: 0, late: undefined, retrying: undefined };

test('a sweep in whose way nothing stands has nothing to say', () => {
  assert.deepEqual(standing({ plan: running, health: calm, spent }), []);
  assert.deepEqual(standing({ plan: running, health: undefined, spent: undefined }), []);
});

test('paused and blocked say how it goes on and why it does not; an endpoint’s words cannot move the cursor', () => {
  assert.deepEqual(standing({ plan: { ...running, state: 'paused' }, health: calm, spent }), [
    'paused by a person: `qualityflow sweep unpause he` goes on',
  ]);
  const [line = ''] = standing({
    plan: { ...running, state: 'blocked', stateReason: 'HTTP 401: \u001b[2Jbad\nkey' },
    health: calm,
    spent,
  });
  assert.match(line, /^blocked: HTTP 401: .*bad.*key$/);
  assert.ok(!line.includes('\u001b'));
});

test('a sweep that somebody ended says who, in words that cannot move the cursor', () => {
  const [line = ''] = standing({
    plan: { ...running, state: 'cancelled', stateReason: 'terminated in Temporal by me: \u001b[2Jtoo slow' },
    health: undefined,
    spent,
  });
  assert.match(line, /^cancelled: terminated in Temporal by me: .*too slow$/);
  assert.ok(!line.includes('\u001b'));
});

test('a reason that says the state itself stands alone', () => {
  const stateReason = 'cancelled by `qualityflow sweep cancel`';
  assert.deepEqual(standing({ plan: { ...running, state: 'cancelled', stateReason }, health: undefined, spent }), [
    stateReason,
  ]);
});

test('waits say until when, late problems since when', () => {
  const at = new Date();
  at.setHours(14, 3, 20, 0);
  const health = {
    paced: { problems: 1, untilMs: at.getTime() },
    awaitBudget: 2,
    late: { problems: 2, quietMs: 40_000 },
    retrying: undefined,
  };
  assert.deepEqual(standing({ plan: running, health, spent }), [
    '1 problem paced until 14:03:20 by Retry-After',
    '2 problems waiting for budget that requests under way hold',
    '2 problems late: last heartbeat 40s ago',
  ]);
});

test('retries say why, which attempt it is and when the next one comes; an endpoint’s words cannot move the cursor', () => {
  const retrying = {
    problems: 2,
    reason: 'http://127.0.0.1:9/v1 cannot be reached: ECONNREFUSED\u001b[2J\n',
    attempt: 7,
    nextInMs: 20_000,
  };
  assert.deepEqual(standing({ plan: running, health: { ...calm, retrying }, spent }), [
    '2 problems retry: http://127.0.0.1:9/v1 cannot be reached: ECONNREFUSED\\x1b[2J\\n (attempt 7, next try in 20s)',
  ]);
  const underWay = { problems: 1, reason: 'HTTP 503', attempt: 2, nextInMs: null };
  assert.deepEqual(standing({ plan: running, health: { ...calm, retrying: underWay }, spent }), [
    '1 problem retries: HTTP 503 (attempt 2, under way)',
  ]);
});

test('the budget counts what may have been charged as used, and tells what is reserved', () => {
  const line = standing({
    plan: running,
    health: calm,
    spent: {
      settled: { tokens: 9000, microUsd: 1_500_000 },
      open: { tokens: 500, microUsd: 250_000 },
      possiblyCharged: { tokens: 500, microUsd: 250_000, requests: 1 },
      cap: { tokens: 12_000, microUsd: 5_000_000 },
    },
  });
  assert.deepEqual(line, [
    'budget: used 9,500, reserved 500 of 12,000 tokens; used 1.75, reserved 0.25 of US$ 5.00, 1 request possibly charged',
  ]);
});
