import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Outcome } from '../activities/contract.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

describe('a plan that grows, and a run that is re-opened', () => {
  const home = mkdtempSync(join(tmpdir(), 'qualityflow-extend-'));
  let store: Store;
  let name = '';
  let count = 0;
  before(async () => {
    store = await openStore({ home });
  });
  after(async () => {
    await store.close();
    rmSync(home, { recursive: true, force: true });
  });
  beforeEach(async () => {
    name = `s${count++}`;
    await store.createSweep({
      name,
      spec: {
        name,
        benchmark: 'mini',
        limit: 2,
        strategy: { kind: 'zero-shot' },
        model: {
          endpoint: 'scripted',
          name: 'm',
          api: 'chat',
          parameters: {},
          extraBody: {},
          maxTokens: {},
          requestTimeoutMs: 1000,
        },
        samples: 1,
        seed: 0,
        concurrency: { problems: 3, requests: 2 },
        budget: { tokens: 1000 },
        maxWaitMs: 1000,
      },
      specHash: 'one',
      datasetSha256: '',
      scripted: true,
      endpointIdentity: 'scripted',
      tasks: ['a', 'b'],
      planned: 2,
    });
  });

  const record = (taskId: string, sample: number, outcome: Outcome, attempt = 1) =>
    store.recordOutcome({
      run: { sweep: name, taskId, sample, attempt },
      outcome,
      detail: '',
      finalStep: 'generated',
      tokens: 1,
      requests: 1,
      trail: [],
      submission: null,
      fingerprint: null,
      recordedAt: new Date(0).toISOString(),
    });
  const unfinished = async () =>
    (await store.listUnfinished({ sweep: name, from: 0, to: 1000, limit: 1000 })).map(
      ({ taskId, sample, position }) => `${position} ${taskId}#${sample}`,
    );
  const extend = (change: { samples?: number; tasks?: string[]; fromHash?: string }) =>
    store.extendSweep({
      name,
      fromHash: change.fromHash ?? 'one',
      samples: change.samples ?? 1,
      selection: { limit: change.tasks?.length ?? 2 },
      specHash: 'two',
      tasks: change.tasks ?? ['a', 'b'],
    });

  it('keeps every row at its task and sample, and plans the difference alone', async () => {
    await record('a', 0, 'pass');
    await record('b', 0, 'infra');
    await store.updateOperational(name, { budget: { tokens: 5000 } });
    assert.ok(await extend({ samples: 3, tasks: ['a', 'b', 'c'] }));
    assert.deepEqual(await unfinished(), ['1 a#1', '2 a#2', '3 b#0', '4 b#1', '5 b#2', '6 c#0', '7 c#1', '8 c#2']);
    const row = await store.getSweep(name);
    assert.equal(row?.planned, 9);
    assert.equal(row?.specHash, 'two');
    assert.deepEqual(row?.tasks, ['a', 'b', 'c']);
    assert.deepEqual([row?.spec.samples, row?.spec.limit], [3, 3]);
    assert.deepEqual(row?.spec.budget, { tokens: 5000 }, 'what was changed meanwhile stays');
    assert.equal((await store.getOutcome({ sweep: name, taskId: 'a', sample: 0 }))?.outcome, 'pass');
    assert.ok(await record('c', 2, 'wrong'));
  });

  it('refuses to shrink, to change the order, and to go on from another spec', async () => {
    assert.equal(await extend({ tasks: ['a'] }), false);
    assert.equal(await extend({ tasks: ['b', 'a', 'c'] }), false);
    assert.equal(await extend({ samples: 2, fromHash: 'other' }), false);
    assert.ok(await extend({ samples: 2 }));
    assert.equal(await extend({ samples: 1, fromHash: 'two' }), false);
    assert.deepEqual(await unfinished(), ['0 a#0', '1 a#1', '2 b#0', '3 b#1']);
  });

  it('re-opens what is final, once, and a straggler of the old attempt cannot close it', async () => {
    const key = { sweep: name, taskId: 'a', sample: 0, attempt: 2 };
    assert.equal(await store.reopenOutcome(key), undefined);
    await record('a', 0, 'infra', 2);
    assert.equal(await store.reopenOutcome(key), undefined);
    await record('a', 0, 'wrong', 2);
    assert.deepEqual(await unfinished(), ['1 b#0']);
    assert.equal(await store.reopenOutcome({ ...key, attempt: 1 }), undefined, 'another attempt was seen');
    assert.equal(await store.reopenOutcome(key), 'wrong');
    assert.equal(await store.reopenOutcome(key), undefined);
    assert.deepEqual(await unfinished(), ['0 a#0', '1 b#0']);
    assert.equal(await record('a', 0, 'wrong', 2), false);
    const [next] = await store.listUnfinished({ sweep: name, from: 0, to: 1, limit: 1 });
    assert.equal(next?.attempt, 4);
    assert.ok(await record('a', 0, 'pass', 4));
  });
});
