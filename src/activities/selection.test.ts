import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { resolveEndpoint } from '../models/endpoints.ts';
import { type ScriptedModel, startScriptedModel } from '../models/scripted/server.ts';
import { readMini } from '../problems/mini/mini.ts';
import type { Problem } from '../problems/problem.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { testSandbox, withoutDocker } from '../sandbox/testing.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { batchActivities } from './batch-activities.ts';
import type { Activities, Drawn, RunKey } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { withHeartbeat } from './heartbeat.ts';
import { poolActivities } from './pool-activities.ts';

const silent = new DefaultLogger('ERROR', () => undefined);
/** The scripted model knows several programs for it. */
const task = readMini().find(({ task_id }) => task_id === 'mini/rotate-left');
assert.ok(task);
const statement = task.prompt;
const problem: Problem = {
  taskId: 'a',
  kind: 'function',
  entryPoint: 'double',
  form: 'description',
  statement: 'Write double(x), which returns x + x.',
  preamble: '',
  visibleTests: [],
};

/** One sweep `s` a test, of task `a`, on the scripted model. */
describe('the activities of a selection', () => {
  let home = '';
  let store: Store;
  let model: ScriptedModel;
  let activities: Pick<Activities, 'drawPrograms' | 'runPool' | 'rankPool'>;
  let sandbox: Sandbox | undefined;
  const run: RunKey = { sweep: 's', taskId: 'a', sample: 0, attempt: 1 };

  before(async () => {
    model = await startScriptedModel();
  });
  after(async () => {
    await model.close();
    await sandbox?.close();
  });
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'qf-selection-'));
    store = await openStore({ home });
    await store.createSweep({
      name: 's',
      spec: {
        name: 's',
        benchmark: 'mini',
        strategy: { kind: 'zero-shot' },
        model: settings(),
        samples: 1,
        seed: 0,
        concurrency: { problems: 1, requests: 1 },
        budget: {},
        maxWaitMs: 1000,
      },
      specHash: '',
      datasetSha256: '',
      scripted: true,
      endpointIdentity: model.url,
      tasks: ['a'],
      planned: 1,
    });
    await store.setSweepState('s', 'running');
    const unused = () => assert.fail('selection needs nothing else');
    const deps: Dependencies = {
      store,
      sandbox: async () => (sandbox ??= await testSandbox()),
      dataset: unused,
      endpoint: (endpoint) => resolveEndpoint({ endpoint, env: {} }),
      reportRequest: () => undefined,
      get client() {
        return unused();
      },
    };
    const { drawPrograms } = batchActivities(deps);
    activities = { ...poolActivities(deps), drawPrograms: withHeartbeat(drawPrograms) };
  });
  afterEach(async () => {
    await store.close();
    await rm(home, { recursive: true, force: true });
  });

  const settings = () => ({
    name: 'scripted',
    endpoint: model.url,
    api: 'chat' as const,
    parameters: {},
    extraBody: {},
    maxTokens: {},
    requestTimeoutMs: 5000,
  });
  const within = async <T>(
    work: () => Promise<T>,
    environment = new MockActivityEnvironment({}, { logger: silent }),
  ) => {
    let result: Promise<T> | undefined;
    await environment.run(async () => {
      result = work();
      await result;
    });
    return result ?? assert.fail('nothing ran');
  };
  const context = () => ({ run, model: settings(), endpointIdentity: model.url, seed: 0 });
  const draw = (
    count: number,
    { from = 0, environment }: { from?: number; environment?: MockActivityEnvironment } = {},
  ) =>
    within(
      () =>
        activities.drawPrograms({
          context: context(),
          problem: { ...problem, statement, entryPoint: task.entry_point },
          from,
          count,
        }),
      environment,
    );
  const drawn = async (count: number): Promise<Drawn> => {
    const answer = await draw(count);
    return answer.kind === 'drawn' ? answer : assert.fail(JSON.stringify(answer));
  };
  const record = (step: string, result: object) =>
    store.recordStep({
      run,
      step,
      activity: 'test',
      reused: false,
      result: JSON.stringify(result),
      startedAt: new Date().toISOString(),
      durationMs: 0,
    });
  const step = (name: string) => ({ run, step: name });

  it('pay for the difference alone when more programs are drawn, and draw different ones', async () => {
    const before = model.log().total;
    const three = await drawn(3);
    assert.deepEqual(three.steps, ['program/0', 'program/1', 'program/2']);
    assert.equal(model.log().total - before, 3);
    const eight = await drawn(8);
    assert.equal(eight.steps.length, 8);
    assert.equal(model.log().total - before, 8);
    const codes = (await store.steps(run)).map(({ result }) => JSON.parse(result).code);
    assert.ok(new Set(codes).size > 1, 'one answer to all of them');
    const [first] = await store.steps(run);
    const { request } = (await store.getExchange(first?.replyKey ?? '')) ?? assert.fail();
    assert.deepEqual([request.prompt.temperature, request.prompt.topP, request.sample], [0.8, 0.95, 0]);
  });

  it('keep what a batch has when it fails in the middle, and tell what cannot be used', async () => {
    const before = model.log().bodies;
    model.setFaults([
      { kind: 'status', status: 503, share: 0.8, firstArrivals: 1 },
      { kind: 'truncated', share: 0.6, seed: 3 },
    ]);
    try {
      const parts: Drawn[] = [];
      let failures = 0;
      for (let from = 40; from < 49; ) {
        try {
          const part = await draw(49 - from, { from });
          assert.ok(part.kind === 'drawn');
          parts.push(part);
          assert.ok(part.next === undefined || part.next > from, 'a part without progress');
          from = part.next ?? 49;
        } catch (error) {
          assert.ok(error instanceof ApplicationFailure && error.type === 'Model:unavailable', String(error));
          failures++;
        }
      }
      assert.ok(failures > 0 && parts.length > 1, `${failures} failures, ${parts.length} parts`);
      const recorded = parts.flatMap((part) => part.recorded);
      assert.ok(recorded.some((name) => name.endsWith('/again')));
      assert.equal(new Set(recorded.map((name) => name.replace('/again', ''))).size, 9);
      assert.ok(parts.flatMap(({ steps }) => steps).every((name) => recorded.includes(name)));
      assert.ok(parts.some(({ unusable }) => unusable?.kind === 'unusable'));
      for (const [body, { completed }] of Object.entries(model.log().bodies))
        assert.ok(completed.length - (before[body]?.completed.length ?? 0) <= 1, 'paid twice');
    } finally {
      model.setFaults([]);
    }
  });

  it('send nothing while the sweep is held, and nothing more when they are cancelled', async () => {
    const before = model.log().total;
    await store.setSweepState('s', 'paused');
    assert.deepEqual(await draw(3), { kind: 'held', reason: 'paused', detail: 'paused by a person' });
    assert.equal(model.log().total, before);
    await store.setSweepState('s', 'running');
    const environment = new MockActivityEnvironment({}, { logger: silent });
    environment.cancel();
    await assert.rejects(draw(3, { environment }), CancelledFailure);
    assert.ok(model.log().total - before <= 1);
  });

  it('fail as StoreIsOlder where the history names a program that the store lacks', async () => {
    const pool = { context: step('pool'), problem, programs: { steps: ['program/0'] }, tests: { tests: [] } };
    await assert.rejects(
      within(() => activities.runPool(pool)),
      (error) => error instanceof ApplicationFailure && error.type === 'StoreIsOlder',
    );
  });

  it('rank programs as they came where there is no usable test, without a container', async () => {
    for (const [index, code] of ['def double(x): return 0', 'def double(x): return 2 * x'].entries())
      await record(`program/${index}`, { kind: 'program', code });
    await record('tests/0', { kind: 'tests', tests: [{ kind: 'assert', source: 'assert ____ == double(1)' }] });
    const programs = { steps: ['program/0', 'program/1'] };
    const ref = await within(() =>
      activities.runPool({ context: step('pool'), problem, programs, tests: { steps: ['tests/0'] } }),
    );
    assert.deepEqual(ref, { kind: 'pool', step: 'pool', programs: 2, distinct: 2, tests: 0, leftOut: 1 });
    for (const method of ['aces-o', 'codet', 'srank', 'b4'] as const)
      assert.deepEqual(
        await within(() =>
          activities.rankPool({ context: step('rank'), pool: 'pool', method, prefilter: 'none', seed: 0, submit: 5 }),
        ),
        { kind: 'ranked', top: [0, 1], tied: 2 },
      );
  });

  it('run programs and tests, hostile ones among them, in the sandbox alone, and keep the matrix', {
    skip: withoutDocker,
  }, async () => {
    const mark = join(home, 'escaped');
    const wrong = 'def double(x):\n    return x * x';
    const right = 'def double(x):\n    return 2 * x';
    const hostile = `import os\nos.system('touch ${mark}')\n${wrong}`;
    for (const [index, code] of [wrong, right, right, hostile].entries())
      await record(`program/${index}`, { kind: 'program', code });
    const asserts = [
      'assert double(3) == 6',
      'assert double(5) == 10',
      'assert double(2) == 4',
      'assert double(3) == 6',
      `assert double(1) == 2 or __import__('os').system('touch ${mark}') == 0`,
      'assert double(',
    ].map((source) => ({ kind: 'assert', source }));
    await record('tests/0', { kind: 'tests', tests: asserts });
    const programs = { steps: [0, 1, 2, 3].map((index) => `program/${index}`) };
    const ref = await within(() =>
      activities.runPool({ context: step('pool'), problem, programs, tests: { steps: ['tests/0'] } }),
    );
    assert.ok(ref.kind === 'pool');
    assert.deepEqual([ref.programs, ref.distinct], [4, 3]);
    assert.ok(!existsSync(mark), 'something ran outside the sandbox');
    const rank = {
      context: step('rank'),
      pool: 'pool',
      method: 'aces-o',
      prefilter: 'none',
      seed: 0,
      submit: 2,
    } as const;
    const ranked = await within(() => activities.rankPool(rank));
    assert.deepEqual(ranked, { kind: 'ranked', top: [1, 2], tied: 2 });
    // A repetition, after a kill, makes the same choice and leaves the same rows.
    const rows = await store.steps(run);
    await within(() => activities.runPool({ context: step('pool'), problem, programs, tests: { steps: ['tests/0'] } }));
    assert.deepEqual(await within(() => activities.rankPool(rank)), ranked);
    const results = (all: typeof rows) => new Map(all.map((row) => [row.step, row.result]));
    assert.deepEqual(results(await store.steps(run)), results(rows));
  });
});
