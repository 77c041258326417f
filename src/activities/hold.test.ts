import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { resolveEndpoint } from '../models/endpoints.ts';
import type { Problem } from '../problems/problem.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { RequestEnd } from './adaptive-limit.ts';
import type { ModelContext, ProgramReply } from './contract.ts';
import { createActivities } from './index.ts';

const problem: Problem = {
  taskId: 'a',
  kind: 'function',
  entryPoint: 'f',
  form: 'description',
  statement: 'Return 1.',
  preamble: '',
  visibleTests: [],
};

describe('activities of a sweep that is held', () => {
  const home = mkdtempSync(join(tmpdir(), 'qualityflow-hold-'));
  let store: Store;
  let url = '';
  let arrivals = 0;
  let status = 200;
  const ends: RequestEnd['kind'][] = [];
  const server = createServer((incoming, response) => {
    arrivals += 1;
    const choices = [
      { message: { role: 'assistant', content: '```python\ndef f(): return 1\n```' }, finish_reason: 'stop' },
    ];
    incoming.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? { choices } : { error: { message: 'no' } }));
    });
  });
  before(async () => {
    store = await openStore({ home });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    url = `http://127.0.0.1:${address.port}/v1`;
    await store.createSweep({
      name: 's',
      spec: {
        name: 's',
        benchmark: 'mini',
        strategy: { kind: 'zero-shot' },
        model: context(0).model,
        samples: 9,
        seed: 0,
        concurrency: { problems: 1, requests: 1 },
        budget: {},
        maxWaitMs: 1000,
      },
      specHash: '',
      datasetSha256: '',
      scripted: false,
      endpointIdentity: url,
      tasks: ['a'],
      planned: 9,
    });
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await store.close();
    rmSync(home, { recursive: true, force: true });
  });

  const context = (sample: number): ModelContext => ({
    run: { sweep: 's', taskId: 'a', sample, attempt: 1 },
    step: 'generate/0',
    model: {
      endpoint: url,
      name: 'm',
      api: 'chat',
      parameters: {},
      extraBody: {},
      maxTokens: {},
      requestTimeoutMs: 5000,
    },
    endpointIdentity: url,
    seed: sample,
    retry: 0,
  });
  /** Whatever a held activity touched beside the store would fail. */
  const unused = () => assert.fail('a held activity starts nothing');
  const activities = () =>
    createActivities({
      store,
      sandbox: unused,
      dataset: unused,
      endpoint: (endpoint) => resolveEndpoint({ endpoint, env: {} }),
      reportRequest: (_, { kind }) => ends.push(kind),
      client: new Client({ connection: Connection.lazy() }),
    });
  const environment = () =>
    new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR', () => undefined) });
  const generate = (sample: number): Promise<ProgramReply> =>
    environment().run(activities().generateProgram, { context: context(sample), problem, prompt: 0 });

  for (const { state, reason, detail } of [
    { state: 'paused', reason: '', detail: 'paused by a person' },
    { state: 'blocked', reason: 'HTTP 401', detail: 'HTTP 401' },
  ] as const) {
    it(`start nothing while it is ${state}, and say so as data`, async () => {
      await store.setSweepState('s', state, { reason });
      const held = { kind: 'held', reason: state, detail };
      assert.deepEqual(await generate(0), held);
      const run = { context: context(0), problem, programs: ['pass'], tests: [] };
      assert.deepEqual(await environment().run(activities().runPrograms, run), held);
      const solution = { kind: 'submitted' as const, trail: [], submission: 0, finalStep: 'reverted' as const };
      assert.deepEqual(await environment().run(activities().scoreSubmission, { run: context(0).run, solution }), held);
      assert.equal(arrivals, 0);
      assert.deepEqual(ends, []);
    });
  }

  it('ask the endpoint again once it runs, and tell its limit how each request ended; a stored reply tells nothing', async () => {
    await store.setSweepState('s', 'running');
    assert.equal((await generate(1)).kind, 'program');
    assert.equal((await generate(1)).kind, 'program');
    assert.deepEqual(ends, ['answered']);
    status = 429;
    await assert.rejects(generate(2));
    status = 503;
    await assert.rejects(generate(3));
    assert.deepEqual(ends, ['answered', 'rate_limited', 'unavailable']);
    assert.equal(arrivals, 3);
  });
});
