import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { startTemporal } from '../../test/support/temporal.ts';
import type { Context } from './context.ts';
import { isClosing, untilClosed } from './until-closed.ts';
import { UserError } from './user-error.ts';

let temporal: TestWorkflowEnvironment;
before(async () => {
  temporal = await startTemporal();
});
after(() => temporal.teardown());

function contextOf(): { context: Context; told: () => string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const context = {
    stdout: stream,
    stderr: stream,
    interactive: false,
    env: {},
    cwd: '/',
    home: '/',
    onInterrupt: () => () => {},
  };
  return { context, told: () => text };
}

test('a run is waited for only once its cancellation was asked for, and not for ever', async () => {
  const { client } = temporal;
  // Nobody serves the queue, so that it ends when the test says so.
  const workflowId = 'sweep/s';
  const handle = await client.workflow.start('runSweep', { workflowId, taskQueue: 'nobody' });
  const { context, told } = contextOf();
  const wait = (limitMs: number) => untilClosed({ context, client, workflowId, name: 'The sweep s', limitMs });
  await wait(0);
  await untilClosed({ context, client, workflowId: 'sweep/none', name: 'none' });
  assert.equal(told(), '', 'what runs, and what is not there, is not waited for');

  await handle.cancel();
  assert.equal(await isClosing(client, workflowId), true);
  await assert.rejects(wait(300), (error) => error instanceof UserError && error.exitCode === 3);
  let over = false;
  const waiting = wait(60_000).then(() => {
    over = true;
  });
  await delay(500);
  assert.equal(over, false);
  await handle.terminate();
  await waiting;
  assert.match(told(), /The sweep s is still being cancelled: waiting for its end, for up to 60 s\./);
});
