import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { duration, grouped, progressBlock, progressLine, type Snapshot } from './progress.ts';

const snapshot: Snapshot = {
  sweep: 'he-small',
  planned: 40,
  counts: { pass: 6, wrong: 4, infra: 1 },
  running: [
    { taskId: 'HumanEval/11', stage: 'debug' },
    { taskId: 'HumanEval/12', stage: 'check' },
  ],
  requests: { sent: 1234, reused: 5 },
  tokens: 98765,
  standing: [],
  elapsedMs: 60_000,
  doneBefore: 0,
};

test('a block shows bar, outcomes, requests, tokens, running problems with their stage, and the time left', () => {
  const block = progressBlock(snapshot, 200);
  assert.match(block, /he-small {2}█{8}░{22} {2}10\/40 {2}1m00s, about 3m00s left/);
  assert.match(block, /pass 6 · wrong 4 · infra 1/);
  assert.match(block, /1,234 requests sent, 5 reused · 98,765 tokens/);
  assert.match(block, /running 2: HumanEval\/11 debug, HumanEval\/12 check/);
});

test('no time is guessed from what had ended before, nor from fewer than three', () => {
  assert.doesNotMatch(progressBlock({ ...snapshot, doneBefore: 8 }, 200), /left/);
  assert.match(progressBlock({ ...snapshot, doneBefore: 7 }, 200), /about 10m00s left/);
  assert.doesNotMatch(progressBlock({ ...snapshot, counts: { pass: 40 } }, 200), /left/);
});

test('no line is wider than the terminal, and hostile ids cannot move the cursor', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.integer({ min: 10, max: 120 }), (taskId, columns) => {
      const lines = progressBlock({ ...snapshot, running: [{ taskId, stage: 'check' }] }, columns).split('\n');
      assert.equal(lines.length, 4);
      for (const line of lines) {
        assert.ok(stringWidth(line) <= columns, `${stringWidth(line)} > ${columns}`);
        assert.doesNotMatch(line, /\p{Cc}/u);
      }
    }),
  );
});

test('what is not final does not count as done', () => {
  assert.match(progressBlock({ ...snapshot, counts: { pass: 4, cancelled: 36 } }, 200), /4\/40/);
});

test('the same as one line for logs', () => {
  assert.equal(
    progressLine(snapshot),
    'he-small 10/40 | pass 6 · wrong 4 · infra 1 | running 2 | 1,234 requests sent, 5 reused · 98,765 tokens | 1m00s, about 3m00s left',
  );
  assert.match(progressLine({ ...snapshot, planned: 0, counts: {}, running: [] }), /0\/0 \| no outcome yet/);
});

test('durations and large numbers read well', () => {
  assert.deepEqual([0, 59_400, 60_000, 3_599_000, 7_620_000].map(duration), ['0s', '59s', '1m00s', '59m59s', '2h07m']);
  assert.deepEqual([0, 999, 1000, 1_234_567].map(grouped), ['0', '999', '1,000', '1,234,567']);
});
