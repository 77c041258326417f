import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startTemporal } from '../../test/support/temporal.ts';
import { SweepIdKey } from '../temporal/search-attributes.ts';
import { endStrangers } from './end-strangers.ts';

test('what runs under a name that the store does not know is ended; what has started since, and other sweeps, are not', {
  timeout: 60_000,
}, async () => {
  const temporal = await startTemporal();
  try {
    const { client } = temporal;
    // Nobody serves the queue: they stay as they are.
    const start = (workflowId: string, value: string) =>
      client.workflow.start('runSweep', {
        workflowId,
        taskQueue: 'nobody',
        typedSearchAttributes: [{ key: SweepIdKey, value }],
      });
    const listed = async (count: number) => {
      for (;;) {
        let found = 0;
        for await (const _ of client.workflow.list({ query: 'ExecutionStatus="Running"' })) found += 1;
        if (found === count) return;
        await pause(50);
      }
    };
    for (const [id, sweep] of [
      ['old', 'lost'],
      ['old/shard', 'lost'],
      ['other', 'lost-too'],
    ] as const)
      await start(id, sweep);
    await listed(3);
    const foundFreeAt = new Date();
    await start('new', 'lost');
    await listed(4);

    assert.equal(await endStrangers(client, 'lost', foundFreeAt), 2);
    const status = async (id: string) => (await client.workflow.getHandle(id).describe()).status.name;
    assert.deepEqual(await Promise.all(['old', 'old/shard', 'other', 'new'].map(status)), [
      'TERMINATED',
      'TERMINATED',
      'RUNNING',
      'RUNNING',
    ]);
    assert.equal(await endStrangers(client, 'lost', foundFreeAt), 0);
  } finally {
    await temporal.teardown();
  }
});
