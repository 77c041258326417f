import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { isName, shardWorkflowId, sweepWorkflowId } from './ids.ts';
import { problemWorkflowId } from './problem-id.ts';

test('ids read as the place of a run', () => {
  assert.equal(sweepWorkflowId('he-small'), 'sweep/he-small');
  assert.equal(shardWorkflowId('he-small', 3), 'sweep/he-small/shard/3');
  assert.equal(
    problemWorkflowId({ sweep: 'he-small', taskId: 'HumanEval/3', sample: 0 }),
    'sweep/he-small/task/HumanEval%2F3#0',
  );
});

test('a long id is cut to 200 bytes and ends in 12 hex digits of the sha256 of the whole', () => {
  const taskId = 'long/'.repeat(60);
  const id = problemWorkflowId({ sweep: 's', taskId, sample: 7 });
  const whole = `sweep/s/task/${encodeURIComponent(taskId)}#7`;
  assert.equal(Buffer.byteLength(id), 200);
  assert.equal(id.slice(-12), createHash('sha256').update(whole).digest('hex').slice(0, 12));
});

test('hostile task ids give distinct, bounded, printable ids', () => {
  const taskId = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc
      .array(fc.constantFrom('..', '/', ' ', '\u0000', '\u001b[31m', '\ud800', '\ufffd', '%ud800', '#0'), {
        maxLength: 60,
      })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(taskId, taskId, fc.nat(50), fc.nat(50), (a, b, m, n) => {
      const idOf = (task: string, sample: number) => problemWorkflowId({ sweep: 's', taskId: task, sample });
      assert.match(idOf(a, m), /^[\x21-\x7e]{1,200}$/);
      assert.equal(idOf(a, m) === idOf(b, n), a === b && m === n);
    }),
  );
});

test('names are lower case, short, and cannot climb out of a folder', () => {
  for (const name of ['a', '0', 'he-qf.small_2', 'a'.repeat(64)]) assert.ok(isName(name), name);
  for (const name of ['', '.a', '-a', 'A', 'a/b', 'a b', 'a\n', 'ä', 'a'.repeat(65)]) assert.ok(!isName(name), name);
});
