import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { Activities, Held, RunKey, StepContext } from '../../src/activities/contract.ts';
import { withHeartbeat } from '../../src/activities/heartbeat.ts';
import { unlessHeld } from '../../src/activities/hold.ts';
import { storeActivities } from '../../src/activities/store-activities.ts';
import { releaseProblems } from '../../src/cli/release-sweep.ts';
import type { Strategy } from '../../src/spec/spec.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { sweepWorkflowId } from '../../src/temporal/ids.ts';
import { problemWorkflowId } from '../../src/temporal/problem-id.ts';
import { StageKey } from '../../src/temporal/search-attributes.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import type { runSweep } from '../../src/workflows/sweep/run-sweep.ts';
import { startTemporal } from '../support/temporal.ts';
import { recordHistory } from './record-history.ts';
import { ToyPlan, toyActivities, toyModel } from './toy-activities.ts';

const neverRight: Strategy = {
  kind: 'quality-flow',
  checker: 'imagined',
  diversified: 3,
  tests: { queries: 6, perQuery: 1, shared: true },
  tqc: true,
  debugEpochs: 1,
  carryForward: false,
  clarifier: false,
  clarifierAttempts: 1,
  revert: true,
  checkerSeesProblem: false,
};

/** Activities that do work, which a held sweep must not start. */
const WORKING = [
  'generateProgram',
  'imagineExecution',
  'criticiseProgram',
  'designTests',
  'judgeTest',
  'debugProgram',
  'clarifyProblem',
  'runPrograms',
  'comparePredictions',
  'scoreSubmission',
] as const;

describe('control of sweeps, on a real Temporal server and a real store', { timeout: 240_000 }, () => {
  let temporal: TestWorkflowEnvironment;
  let store: Store;
  const home = mkdtempSync(join(tmpdir(), 'qualityflow-control-'));
  before(async () => {
    temporal = await startTemporal();
    store = await openStore({ home });
  });
  after(async () => {
    await temporal.teardown();
    await store.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** A sweep of toy activities, held by the store as the real ones are; every start of work is noted. */
  class ControlledSweep {
    readonly name = `control-${Math.random().toString(36).slice(2, 10)}`;
    readonly starts: { activity: string; key: string; at: number }[] = [];
    ended = 0;
    readonly #activities: Record<string, (...args: never[]) => Promise<unknown>>;

    constructor(plan: ToyPlan, own: Partial<Activities>, workMs: number) {
      const unused = () => assert.fail('this test needs no such adapter');
      const stored = storeActivities({
        store,
        client: temporal.client,
        sandbox: unused,
        dataset: unused,
        endpoint: unused,
        reportRequest: unused,
      });
      const toy = toyActivities(plan, {
        ...stored,
        loadProblem: toyActivities(plan).loadProblem,
        scoreSubmission: async ({ run, solution }) => {
          const summary = {
            outcome: 'pass',
            detail: '',
            finalStep: solution.finalStep,
            tokens: 2,
            requests: 1,
          } as const;
          const recordedAt = new Date().toISOString();
          await store.recordOutcome({ ...summary, run, trail: [], submission: null, fingerprint: null, recordedAt });
          return summary;
        },
        ...own,
      });
      const working = WORKING.map((activity) => {
        const work = async (input: never): Promise<unknown> => {
          this.starts.push({ activity, key: `${activity} ${JSON.stringify(stepOf(input))}`, at: Date.now() });
          await delay(workMs);
          const result = await toy[activity](input);
          this.ended += 1;
          return result;
        };
        return [activity, unlessHeld({ store }, work)] as const;
      });
      this.#activities = Object.fromEntries(
        [...Object.entries(toy), ...working].map(([type, activity]) => [type, withHeartbeat(activity)]),
      );
    }

    worker() {
      return workflowBundle().then((bundle) =>
        Worker.create({
          connection: temporal.nativeConnection,
          taskQueue: this.name,
          workflowBundle: bundle,
          activities: this.#activities,
          maxHeartbeatThrottleInterval: '1s',
          stickyQueueScheduleToStartTimeout: '2s',
        }),
      );
    }

    start = () =>
      temporal.client.workflow.start<typeof runSweep>('runSweep', {
        workflowId: sweepWorkflowId(this.name),
        taskQueue: this.name,
        args: [{ sweep: this.name, queues: { control: this.name, model: this.name, sandbox: this.name } }],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
      });

    result = () => temporal.client.workflow.getHandle<typeof runSweep>(sweepWorkflowId(this.name)).result();

    problem = (taskId: string) =>
      temporal.client.workflow.getHandle(problemWorkflowId({ sweep: this.name, taskId, sample: 0 }));

    state = async () => (await store.getPlan(this.name))?.state;

    async unpause(): Promise<number> {
      await store.setSweepState(this.name, 'running', { from: ['paused', 'blocked'] });
      return releaseProblems(temporal.client, this.name);
    }

    /** Summaries of the timers of a problem: why it waited. */
    async waits(taskId: string): Promise<string[]> {
      const { events } = await this.problem(taskId).fetchHistory();
      return (events ?? []).flatMap((event) =>
        event.timerStartedEventAttributes
          ? [String(JSON.parse(Buffer.from(event.userMetadata?.summary?.data ?? []).toString()))]
          : [],
      );
    }
  }

  async function controlled(
    { plan, own = {}, workMs = 50 }: { plan: ToyPlan; own?: Partial<Activities>; workMs?: number },
    work: (sweep: ControlledSweep) => Promise<void>,
  ): Promise<void> {
    const sweep = new ControlledSweep(plan, own, workMs);
    await store.createSweep({
      name: sweep.name,
      spec: {
        name: sweep.name,
        benchmark: 'toy',
        strategy: plan.strategy,
        model: toyModel,
        samples: 1,
        seed: 0,
        concurrency: { problems: plan.concurrency, requests: 20 },
        budget: {},
        maxWaitMs: plan.maxWaitMs,
      },
      specHash: '',
      datasetSha256: '',
      scripted: true,
      endpointIdentity: 'toy',
      tasks: plan.tasks,
      planned: plan.tasks.length,
    });
    await work(sweep);
  }

  const until = async (condition: () => boolean | Promise<boolean>, what: string) => {
    const giveUpAt = Date.now() + 40_000;
    while (!(await condition())) {
      if (Date.now() > giveUpAt) assert.fail(`waited in vain until ${what}`);
      await delay(50);
    }
  };

  it('pauses every running problem in mid-stage; an unpause continues each at its step, and nothing is done twice', async () => {
    const plan = new ToyPlan(['a', 'b', 'c', 'd'], neverRight);
    plan.concurrency = 3;
    await controlled({ plan, workMs: 300 }, async (sweep) => {
      const worker = await sweep.worker();
      await worker.runUntil(async () => {
        await sweep.start();
        await until(() => sweep.starts.some(({ activity }) => activity === 'judgeTest'), 'tests are judged');
        assert.ok(await store.setSweepState(sweep.name, 'paused', { from: ['running'] }));
        const pausedAt = Date.now();
        await delay(8000);
        const late = sweep.starts.filter(({ at }) => at > pausedAt + 1000);
        assert.deepEqual(late, [], 'work began after the pause');
        assert.equal(sweep.ended, sweep.starts.length, 'what was in flight has finished');
        assert.deepEqual(await store.countOutcomes(sweep.name), {});
        assert.deepEqual(await sweep.waits('a'), Array(2).fill('paused by a person'), 'one wait at a time a problem');
        const { memo } = await sweep.problem('a').describe();
        assert.deepEqual(memo, { waiting: { reason: 'paused', detail: 'paused by a person', until: null } });

        assert.equal(await sweep.unpause(), 3);
        const unpausedAt = Date.now();
        assert.deepEqual(await sweep.result(), { pass: 4 });
        const first = sweep.starts.find(({ at }) => at > unpausedAt - 100)?.at ?? Infinity;
        assert.ok(first - unpausedAt < 2000, `went on after ${first - unpausedAt} ms`);
        assert.equal(new Set(sweep.starts.map(({ key }) => key)).size, sweep.starts.length, 'something was done twice');
        assert.equal(await sweep.state(), 'completed');
        recordHistory('solveProblem-paused', await sweep.problem('a').fetchHistory());
      });
    });
  });

  it('stays paused across a restart of the worker and another start of the sweep', async () => {
    const plan = new ToyPlan(['a', 'b', 'c']);
    plan.concurrency = 1;
    await controlled({ plan, workMs: 200 }, async (sweep) => {
      const first = await sweep.worker();
      await first.runUntil(async () => {
        await sweep.start();
        await until(() => sweep.starts.length > 0, 'work begins');
        await store.setSweepState(sweep.name, 'paused', { from: ['running'] });
        await delay(1000);
      });
      const before = sweep.starts.length;
      const second = await sweep.worker();
      await second.runUntil(async () => {
        await sweep.start();
        await delay(4000);
        assert.equal(sweep.starts.length, before);
        assert.equal(await sweep.state(), 'paused');
        await sweep.unpause();
        assert.deepEqual(await sweep.result(), { pass: 3 });
      });
    });
  });

  it('leaves a sweep paused that was paused before its workflow began', async () => {
    const plan = new ToyPlan(['a']);
    await controlled({ plan }, async (sweep) => {
      assert.ok(await store.setSweepState(sweep.name, 'paused', { from: ['created', 'running'] }));
      const worker = await sweep.worker();
      await worker.runUntil(async () => {
        await sweep.start();
        await until(async () => (await sweep.waits('a').catch(() => [])).length > 0, 'the problem waits');
        assert.equal(await sweep.state(), 'paused');
        assert.equal(sweep.starts.length, 0);
        await sweep.unpause();
        assert.deepEqual(await sweep.result(), { pass: 1 });
      });
    });
  });

  it('holds when blocked, shows it as the stage with its reason, and goes on when released', async () => {
    const plan = new ToyPlan(['a', 'b', 'c']);
    plan.concurrency = 2;
    let broken = true;
    const own: Partial<Activities> = {
      generateProgram: async ({ context: { run } }) => {
        if (!broken) return toyActivities(plan).generateProgram(...programInput(run));
        await store.setSweepState(run.sweep, 'blocked', { reason: 'HTTP 401', from: ['running'] });
        return { kind: 'held', reason: 'blocked', detail: 'HTTP 401' };
      },
    };
    await controlled({ plan, own }, async (sweep) => {
      const worker = await sweep.worker();
      await worker.runUntil(async () => {
        await sweep.start();
        await until(async () => (await sweep.waits('b').catch(() => [])).length > 0, 'both problems wait');
        assert.deepEqual(await sweep.waits('a'), ['blocked: HTTP 401']);
        assert.equal((await sweep.problem('a').describe()).typedSearchAttributes.get(StageKey), 'blocked');
        assert.ok(sweep.starts.length <= 2, 'only what was in flight was sent');
        broken = false;
        await sweep.unpause();
        assert.deepEqual(await sweep.result(), { pass: 3 });
        const { typedSearchAttributes, memo } = await sweep.problem('a').describe();
        assert.equal(typedSearchAttributes.get(StageKey), 'score');
        assert.deepEqual(memo ?? {}, {});
        recordHistory('solveProblem-blocked', await sweep.problem('a').fetchHistory());
      });
    });
  });

  it('continues by itself when the signal is lost', async () => {
    const plan = new ToyPlan(['a']);
    await controlled({ plan }, async (sweep) => {
      await store.setSweepState(sweep.name, 'paused');
      const worker = await sweep.worker();
      await worker.runUntil(async () => {
        await sweep.start();
        await until(async () => (await sweep.waits('a').catch(() => [])).length > 0, 'the problem waits');
        await store.setSweepState(sweep.name, 'running', { from: ['paused'] });
        assert.deepEqual(await sweep.result(), { pass: 1 });
      });
    });
  });

  it('cancels a paused sweep', async () => {
    const plan = new ToyPlan(['a', 'b']);
    plan.concurrency = 1;
    await controlled({ plan }, async (sweep) => {
      await store.setSweepState(sweep.name, 'paused');
      const worker = await sweep.worker();
      await worker.runUntil(async () => {
        await sweep.start();
        await until(async () => (await sweep.waits('a').catch(() => [])).length > 0, 'the problem waits');
        await temporal.client.workflow.getHandle(sweepWorkflowId(sweep.name)).cancel();
        await assert.rejects(sweep.result());
        assert.deepEqual(await store.countOutcomes(sweep.name), { cancelled: 1 });
        recordHistory('solveProblem-paused-cancelled', await sweep.problem('a').fetchHistory());
        assert.equal(await sweep.state(), 'cancelled');
        await sweep.start();
        assert.deepEqual(await sweep.result(), { pass: 2 });
      });
    });
  });

  it('ends as infrastructure when the endpoint asks for more waiting than maxWait allows, however many calls wait', async () => {
    const plan = new ToyPlan(['a'], neverRight);
    plan.maxWaitMs = 2500;
    let asked = 0;
    const paced = (): Held => ({
      kind: 'held',
      reason: 'paced',
      detail: 'Retry-After',
      until: new Date(Date.now() + 1500).toISOString(),
    });
    const own: Partial<Activities> = {
      imagineExecution: async () => {
        asked += 1;
        return paced();
      },
    };
    await controlled({ plan, own }, async (sweep) => {
      const worker = await sweep.worker();
      await worker.runUntil(async () => {
        await sweep.start();
        assert.deepEqual(await sweep.result(), { infra: 1 });
        const waits = await sweep.waits('a');
        assert.equal(waits.length, 1);
        assert.match(waits[0] ?? '', /^paced until \d{4}-.* by Retry-After$/);
        // Three programs at once, and one look after the wait.
        assert.equal(asked, 4);
        const row = await store.getOutcome({ sweep: sweep.name, taskId: 'a', sample: 0 });
        assert.match(row?.detail ?? '', /more than the 3 s in all that the sweep allows/);
        recordHistory('solveProblem-waits-too-long', await sweep.problem('a').fetchHistory());
      });
    });
  });
});

function stepOf(input: { context: StepContext & { retry?: number } } | { run: RunKey }) {
  return 'context' in input
    ? [input.context.run.taskId, input.context.step, input.context.retry ?? 0]
    : [input.run.taskId, 'score'];
}

function programInput(run: RunKey): Parameters<Activities['generateProgram']> {
  return [
    {
      context: { run, step: 'generate/0', model: toyModel, endpointIdentity: 'toy', seed: 0, retry: 0 },
      problem: {
        taskId: run.taskId,
        kind: 'function',
        entryPoint: 'f',
        form: 'description',
        statement: '',
        preamble: '',
        visibleTests: [],
      },
      prompt: 0,
    },
  ];
}
