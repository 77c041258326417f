import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Context } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../../src/activities/contract.ts';
import { withHeartbeat } from '../../src/activities/heartbeat.ts';
import { storeActivities } from '../../src/activities/store-activities.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { OutcomeRow, Store } from '../../src/store/store.ts';
import { shardWorkflowId, sweepWorkflowId } from '../../src/temporal/ids.ts';
import { problemWorkflowId } from '../../src/temporal/problem-id.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import type { runSweep } from '../../src/workflows/sweep/run-sweep.ts';
import { startTemporal, temporalBinary } from '../support/temporal.ts';
import { ToyPlan, toyActivities, toyModel } from './toy-activities.ts';

const run = promisify(execFile);
const CLI = /temporal-cli:[^\s:]+/;

describe('a person with the `temporal` command, on a real Temporal server and a real store', {
  timeout: 120_000,
}, () => {
  let temporal: TestWorkflowEnvironment;
  let store: Store;
  const home = mkdtempSync(join(tmpdir(), 'qualityflow-hand-'));
  before(async () => {
    temporal = await startTemporal();
    store = await openStore({ home });
  });
  after(async () => {
    await temporal.teardown();
    await store.close();
    rmSync(home, { recursive: true, force: true });
  });

  async function temporalCli(...args: string[]): Promise<void> {
    const done = run(temporalBinary(), [...args, '--address', temporal.address]);
    // It asks before it deletes.
    done.child.stdin?.end('y\n');
    await done;
  }
  const remove = (workflowId: string) => temporalCli('workflow', 'delete', '--workflow-id', workflowId);

  /** Serves a sweep whose tasks in `slow` and `slowToScore` stay in their first or last activity until `hurry`. */
  async function withSweep(
    { tasks, slow, slowToScore = [] }: { tasks: string[]; slow: string[]; slowToScore?: string[] },
    work: (sweep: Sweep) => Promise<void>,
  ): Promise<void> {
    const plan = new ToyPlan(tasks);
    const name = `hand-${Math.random().toString(36).slice(2, 10)}`;
    const unused = () => assert.fail('this test needs no such adapter');
    const stored = storeActivities({
      store,
      client: temporal.client,
      sandbox: unused,
      dataset: unused,
      endpoint: unused,
      reportRequest: unused,
    });
    const hurried = Promise.withResolvers<void>();
    const open = new Set<string>();
    const rowsOf = async () => {
      const rows = new Map<string, OutcomeRow>();
      for await (const row of store.outcomes(name)) rows.set(row.run.taskId, row);
      return rows;
    };
    const stateOf = async () => {
      const plan = await store.getPlan(name);
      return [plan?.state, plan?.stateReason];
    };
    const until = async (reached: () => Promise<boolean> | boolean, what: string) => {
      for (const giveUpAt = Date.now() + 30_000; !(await reached()); await delay(20))
        assert.ok(Date.now() < giveUpAt, `waited in vain until ${what}`);
    };
    const busy = async (task: string, tasks: string[]) => {
      if (!tasks.includes(task)) return;
      open.add(task);
      await Promise.race([hurried.promise, Context.current().cancelled]);
    };
    const own: Partial<Activities> = {
      ...stored,
      loadProblem: toyActivities(plan).loadProblem,
      generateProgram: async (input) => {
        await busy(input.problem.taskId, slow);
        return toyActivities(plan).generateProgram(input);
      },
      scoreSubmission: async ({ run, solution }) => {
        await busy(run.taskId, slowToScore);
        const summary = { outcome: 'pass', detail: '', finalStep: solution.finalStep, tokens: 2, requests: 1 } as const;
        const recordedAt = new Date().toISOString();
        await store.recordOutcome({ ...summary, run, trail: [], submission: null, fingerprint: null, recordedAt });
        return summary;
      },
    };
    await store.createSweep({
      name,
      spec: {
        name,
        benchmark: 'toy',
        strategy: plan.strategy,
        model: toyModel,
        samples: 1,
        seed: 0,
        concurrency: { problems: 120, requests: 20 },
        budget: {},
        maxWaitMs: plan.maxWaitMs,
      },
      specHash: '',
      datasetSha256: '',
      scripted: true,
      endpointIdentity: 'toy',
      tasks,
      planned: tasks.length,
    });
    const worker = await Worker.create({
      connection: temporal.nativeConnection,
      taskQueue: name,
      workflowBundle: await workflowBundle(),
      activities: Object.fromEntries(
        Object.entries(toyActivities(plan, own)).map(([type, activity]) => [type, withHeartbeat(activity)]),
      ),
      maxHeartbeatThrottleInterval: '1s',
    });
    await worker.runUntil(() =>
      work({
        name,
        id: (taskId) => problemWorkflowId({ sweep: name, taskId, sample: 0 }),
        begin: async () => {
          await temporal.client.workflow.start<typeof runSweep>('runSweep', {
            workflowId: sweepWorkflowId(name),
            taskQueue: name,
            args: [{ sweep: name, queues: { control: name, model: name, sandbox: name } }],
            workflowIdReusePolicy: 'ALLOW_DUPLICATE',
            workflowIdConflictPolicy: 'USE_EXISTING',
          });
        },
        result: () => temporal.client.workflow.getHandle<typeof runSweep>(sweepWorkflowId(name)).result(),
        untilOpen: (count) => until(() => open.size >= count, `${count} are open`),
        untilRows: (count) => until(async () => (await rowsOf()).size >= count, `${count} tasks have a row`),
        untilRow: (task) => until(async () => (await rowsOf()).has(task), `${task} has a row`),
        untilState: (state) => until(async () => (await stateOf())[0] === state, `the sweep is ${state}`),
        state: stateOf,
        rows: rowsOf,
        hurry: hurried.resolve,
      }),
    );
  }

  interface Sweep {
    name: string;
    id(taskId: string): string;
    begin(): Promise<void>;
    result(): Promise<Record<string, number>>;
    untilOpen(count: number): Promise<void>;
    untilRows(count: number): Promise<void>;
    untilRow(task: string): Promise<void>;
    untilState(state: string): Promise<void>;
    state(): Promise<unknown[]>;
    hurry(): void;
    rows(): Promise<Map<string, OutcomeRow>>;
  }

  const told = (rows: Map<string, OutcomeRow>) =>
    Object.fromEntries([...rows].map(([task, { outcome, detail }]) => [task, detail === '' ? outcome : detail]));

  it('deletes a running problem: the rest goes on, its row says so, and a resume repairs it', async () => {
    await withSweep({ tasks: ['a', 'b'], slow: ['a'] }, async (sweep) => {
      await sweep.begin();
      await sweep.untilOpen(1);
      await remove(sweep.id('a'));
      assert.deepEqual(await sweep.result(), { cancelled: 1, pass: 1 });
      assert.deepEqual(told(await sweep.rows()), { a: 'deleted in Temporal', b: 'pass' });
      sweep.hurry();
      await sweep.begin();
      assert.deepEqual(await sweep.result(), { pass: 2 });
    });
  });

  it('deletes a running shard: the other goes on, the sweep says which one is gone, and a resume repairs it', async () => {
    const tasks = Array.from({ length: 102 }, (_, index) => `t${index}`);
    await withSweep({ tasks, slow: ['t0', 't101'] }, async (sweep) => {
      const shard = shardWorkflowId(sweep.name, 0);
      await sweep.begin();
      // A shard with much to do is too busy to be deleted.
      await sweep.untilRows(100);
      await remove(shard);
      await sweep.untilRow('t0');
      sweep.hurry();
      await assert.rejects(sweep.result());
      const rows = await sweep.rows();
      assert.equal(rows.get('t0')?.detail, `cancelled because ${shard} was deleted in Temporal`);
      assert.equal(tasks.slice(51).filter((task) => rows.get(task)?.outcome === 'pass').length, 51);
      assert.deepEqual(await sweep.state(), ['cancelled', `${shard} was deleted in Temporal`]);
      await sweep.begin();
      assert.deepEqual(await sweep.result(), { pass: 102 });
    });
  });

  it('deletes a running sweep: its problems and its state say so, and a resume repairs it', async () => {
    await withSweep({ tasks: ['a', 'b'], slow: ['a'] }, async (sweep) => {
      const id = sweepWorkflowId(sweep.name);
      await sweep.begin();
      await sweep.untilOpen(1);
      await remove(id);
      await sweep.untilRow('a');
      assert.deepEqual(told(await sweep.rows()), { a: `cancelled because ${id} was deleted in Temporal`, b: 'pass' });
      sweep.hurry();
      await sweep.untilState('cancelled');
      assert.deepEqual(await sweep.state(), ['cancelled', 'deleted in Temporal']);
      await sweep.begin();
      assert.deepEqual(await sweep.result(), { pass: 2 });
    });
  });

  it('completes or fails activities: no outcome comes of it, the rows say who did it, and a resume repairs it', async () => {
    const slow = ['nothing', 'program', 'failed'];
    const slowToScore = ['unscored', 'scored', 'given up'];
    await withSweep({ tasks: [...slow, ...slowToScore, 'other'], slow, slowToScore }, async (sweep) => {
      await sweep.begin();
      await sweep.untilOpen(6);
      const activity = async (verb: string, task: string, ...args: string[]) => {
        const { raw } = await temporal.client.workflow.getHandle(sweep.id(task)).describe();
        const activityId = raw.pendingActivities?.[0]?.activityId ?? '';
        await temporalCli('activity', verb, '--workflow-id', sweep.id(task), '--activity-id', activityId, ...args);
      };
      const scored = { outcome: 'pass', detail: '', finalStep: 'generate', tokens: 1, requests: 1 };
      await activity('complete', 'nothing', '--result', 'null');
      await activity(
        'complete',
        'program',
        '--result',
        JSON.stringify({ kind: 'program', code: 'mine', rule: 'mine' }),
      );
      await activity('fail', 'failed', '--reason', 'enough');
      await activity('complete', 'unscored', '--result', '{}');
      await activity('complete', 'scored', '--result', JSON.stringify(scored));
      await activity('fail', 'given up', '--reason', 'enough');
      await sweep.result();
      const rows = await sweep.rows();
      const words = (task: string) => [rows.get(task)?.outcome, rows.get(task)?.detail.replace(CLI, 'me')];
      for (const task of ['nothing', 'program'])
        assert.deepEqual(words(task), ['infra', 'its generateProgram was completed in Temporal by me']);
      const byMe = 'its scoreSubmission was completed in Temporal by me';
      assert.deepEqual(words('unscored'), ['infra', byMe]);
      assert.deepEqual(words('scored'), ['cancelled', byMe]);
      assert.deepEqual(words('failed'), ['infra', 'its generateProgram was failed in Temporal by me: enough']);
      assert.deepEqual(words('given up'), ['infra', 'its scoreSubmission was failed in Temporal by me: enough']);
      assert.deepEqual(words('other'), ['pass', '']);
      sweep.hurry();
      await sweep.begin();
      assert.deepEqual(await sweep.result(), { pass: 7 });
    });
  });
});
