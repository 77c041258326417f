import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo, Context, cancellationSignal } from '@temporalio/activity';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { Activities, Drawn, OutcomeSummary, Unusable } from '../../src/activities/contract.ts';
import { withHeartbeat } from '../../src/activities/heartbeat.ts';
import { DEFAULT_LIMITS } from '../../src/sandbox/sandbox.ts';
import { ownContainers, testSandbox, withoutDocker } from '../../src/sandbox/testing.ts';
import { shardWorkflowId, sweepWorkflowId } from '../../src/temporal/ids.ts';
import { problemWorkflowId } from '../../src/temporal/problem-id.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import type { solveProblem } from '../../src/workflows/solve-problem.ts';
import type { runSweep } from '../../src/workflows/sweep/run-sweep.ts';
import type { runSweepShard } from '../../src/workflows/sweep/run-sweep-shard.ts';
import { startTemporal } from '../support/temporal.ts';
import { recordHistory } from './record-history.ts';
import { ToyPlan, toyActivities, toyModel } from './toy-activities.ts';

describe('sweeps on a real Temporal server', { timeout: 180_000 }, () => {
  let temporal: TestWorkflowEnvironment;
  before(async () => {
    temporal = await startTemporal();
  });
  after(() => temporal.teardown());

  /** Runs `work` beside a worker that serves every queue of a sweep of its own name. */
  async function withSweep<T>(
    options: { plan: ToyPlan; own?: Partial<Activities> },
    work: (sweep: {
      name: string;
      start: () => Promise<string>;
      result: () => Promise<Record<string, number>>;
    }) => Promise<T>,
  ): Promise<T> {
    const name = `toy-${Math.random().toString(36).slice(2, 10)}`;
    const queues = { control: name, model: name, sandbox: name };
    const activities = Object.fromEntries(
      Object.entries(toyActivities(options.plan, options.own)).map(([type, activity]) => [
        type,
        withHeartbeat(activity),
      ]),
    );
    const worker = await Worker.create({
      connection: temporal.nativeConnection,
      taskQueue: name,
      workflowBundle: await workflowBundle(),
      activities,
      maxHeartbeatThrottleInterval: '1s',
    });
    const start = async () => {
      const handle = await temporal.client.workflow.start<typeof runSweep>('runSweep', {
        workflowId: sweepWorkflowId(name),
        taskQueue: name,
        args: [{ sweep: name, queues }],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      return handle.firstExecutionRunId;
    };
    const result = () => temporal.client.workflow.getHandle<typeof runSweep>(sweepWorkflowId(name)).result();
    return worker.runUntil(() => work({ name, start, result }));
  }

  const problemHandle = (sweep: string, taskId: string) =>
    temporal.client.workflow.getHandle<typeof solveProblem>(problemWorkflowId({ sweep, taskId, sample: 0 }));

  async function historyOf(sweep: string, taskId: string) {
    return problemHandle(sweep, taskId).fetchHistory();
  }

  const isRunning: Activities['isRunning'] = async ({ workflowId }) =>
    (await temporal.client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
  const sweepHistory = (sweep: string) => temporal.client.workflow.getHandle(sweepWorkflowId(sweep)).fetchHistory();
  const shardHistory = (sweep: string) => temporal.client.workflow.getHandle(shardWorkflowId(sweep, 0)).fetchHistory();

  it('ends with one outcome a task and at most 20 events for a zero-shot problem', async () => {
    const plan = new ToyPlan(['a', 'b/../c d', 'e']);
    await withSweep({ plan }, async ({ name, start, result }) => {
      await start();
      assert.deepEqual(await result(), { pass: 3 });
      assert.deepEqual(plan.states, ['running', 'completed']);
      const history = await historyOf(name, 'b/../c d');
      const events = history.events ?? [];
      recordHistory('solveProblem-zero-shot', history);
      recordHistory('runSweepShard', await shardHistory(name));
      recordHistory('runSweep', await sweepHistory(name));
      assert.ok(events.length <= 20, `${events.length} events`);
      const summaries = events.flatMap((event) =>
        event.userMetadata?.summary?.data ? [JSON.parse(Buffer.from(event.userMetadata.summary.data).toString())] : [],
      );
      assert.deepEqual(summaries.slice(1), ['generate with prompt 1', 'score the program on the hidden tests']);
      const described = await problemHandle(name, 'a').describe();
      const attributes = Object.fromEntries(
        described.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
      );
      assert.deepEqual(
        { ...attributes },
        {
          SweepId: name,
          Benchmark: 'toy',
          TaskId: 'a',
          Strategy: 'zero-shot',
          Model: 'toy',
          Stage: 'score',
          Outcome: 'pass',
          Tokens: 2,
          ...(attributes.BuildIds ? { BuildIds: attributes.BuildIds } : {}),
        },
      );
    });
  });

  it('keeps no more problems open than its window', async () => {
    const plan = new ToyPlan(Array.from({ length: 12 }, (_, index) => `t${index}`));
    plan.concurrency = 3;
    let open = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    const own: Partial<Activities> = {
      generateProgram: async () => {
        open += 1;
        most = Math.max(most, open);
        // The first ones wait until the window is full, and a moment longer for one too many to show.
        if (open === 3) full.resolve();
        await full.promise;
        await delay(300);
        open -= 1;
        return { kind: 'unusable', reason: 'context_too_long', detail: 'too long' };
      },
    };
    await withSweep({ plan, own }, async ({ start, result }) => {
      await start();
      assert.deepEqual(await result(), { no_code: 12 });
      assert.equal(most, 3);
    });
  });

  it('goes on when one problem meets broken infrastructure, and a resume does exactly that one again', async () => {
    const plan = new ToyPlan(['a', 'b', 'c']);
    let broken = true;
    const generated: string[] = [];
    const own: Partial<Activities> = {
      generateProgram: async ({ problem }) => {
        if (broken && problem.taskId === 'b')
          throw ApplicationFailure.nonRetryable('no such host', 'Model:unauthorized');
        generated.push(problem.taskId);
        return {
          kind: 'program',
          code: 'pass',
          rule: 'toy',
          reply: { key: '', tokens: { prompt: 0, completion: 0 }, reused: false, prompt: '', reply: '' },
        };
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      assert.deepEqual(await result(), { pass: 2, infra: 1 });
      assert.equal(plan.outcomes.get('b')?.detail, 'no such host');
      const failed = await problemHandle(name, 'b').describe();
      assert.equal(failed.status.name, 'FAILED');
      await assert.rejects(
        problemHandle(name, 'b').result(),
        (error) =>
          error instanceof WorkflowFailedError &&
          error.cause instanceof ApplicationFailure &&
          error.cause.type === 'infra',
      );

      broken = false;
      generated.length = 0;
      await start();
      assert.deepEqual(await result(), { pass: 3 });
      assert.deepEqual(generated, ['b']);
      assert.equal(plan.outcomes.get('b')?.run.attempt, 2);

      generated.length = 0;
      await start();
      assert.deepEqual(await result(), { pass: 3 });
      assert.deepEqual(generated, []);
    });
  });

  it('gives two starts at once one run', async () => {
    const plan = new ToyPlan(['a']);
    await withSweep({ plan }, async ({ start, result }) => {
      const [first, second] = await Promise.all([start(), start()]);
      assert.equal(first, second);
      await result();
    });
  });

  it('waits for a problem that is already running instead of counting it', async () => {
    const plan = new ToyPlan(['a']);
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const waited: string[] = [];
    const own: Partial<Activities> = {
      generateProgram: async () => {
        await gate;
        return {
          kind: 'program',
          code: 'pass',
          rule: 'toy',
          reply: { key: '', tokens: { prompt: 0, completion: 0 }, reused: false, prompt: '', reply: '' },
        };
      },
      isRunning: async ({ workflowId }) => {
        waited.push(workflowId);
        const running = await isRunning({ workflowId });
        release();
        return running;
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      const workflowId = problemWorkflowId({ sweep: name, taskId: 'a', sample: 0 });
      const queues = { control: name, model: name, sandbox: name };
      await temporal.client.workflow.start<typeof solveProblem>('solveProblem', {
        workflowId,
        taskQueue: name,
        args: [
          {
            run: { sweep: name, taskId: 'a', sample: 0, attempt: 1 },
            benchmark: 'toy',
            strategy: { kind: 'zero-shot' },
            model: toyModel,
            endpointIdentity: 'toy',
            seed: 0,
            maxWaitMs: 60_000,
            queues,
          },
        ],
      });
      await start();
      assert.deepEqual(await result(), { pass: 1 });
      assert.deepEqual([...new Set(waited)], [workflowId]);
      recordHistory('runSweepShard-waits', await shardHistory(name));
    });
  });

  it('cancels: requests are aborted and every started row says so', async () => {
    const plan = new ToyPlan(['a', 'b', 'c']);
    plan.concurrency = 2;
    let aborted = 0;
    let started = 0;
    const own: Partial<Activities> = {
      generateProgram: async () => {
        started += 1;
        await Context.current().cancelled.catch((error) => {
          if (error instanceof CancelledFailure) aborted += 1;
          throw error;
        });
        throw new Error('unreachable');
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      while (started < 2) await delay(20);
      await temporal.client.workflow.getHandle(sweepWorkflowId(name)).cancel();
      await assert.rejects(
        result(),
        (error) => error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure,
      );
      assert.equal(aborted, 2);
      assert.deepEqual(
        [...plan.outcomes.values()].map(({ outcome }) => outcome),
        ['cancelled', 'cancelled'],
      );
      assert.equal(plan.states.at(-1), 'cancelled');
      assert.equal((await problemHandle(name, 'a').describe()).status.name, 'CANCELLED');
      recordHistory('runSweep-cancelled', await sweepHistory(name));
      recordHistory('runSweepShard-cancelled', await shardHistory(name));
      recordHistory('solveProblem-cancelled', await historyOf(name, 'a'));
    });
  });

  it('cancels: a program that runs is gone within two seconds', { skip: withoutDocker }, async () => {
    const sandbox = await testSandbox();
    const [running, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
    const own: Partial<Activities> = {
      scoreSubmission: async () => {
        const limits = { ...DEFAULT_LIMITS, cpuSeconds: 60 };
        const job = { limits, signal: cancellationSignal(), calls: ['[[1],{"d":[]}]'] };
        const [first, loop] = ['return x', 'while True: pass'].map((body) => ({
          source: `def f(x):\n  ${body}`,
          entryPoint: 'f',
        }));
        assert.ok(first !== undefined && loop !== undefined);
        await sandbox.runCalls({ ...job, programs: [first] });
        running.resolve();
        await sandbox.runCalls({ ...job, programs: [loop] }).finally(() => ended.resolve(performance.now()));
        throw new Error('unreachable');
      },
    };
    try {
      await withSweep({ plan: new ToyPlan(['a']), own }, async ({ name, start, result }) => {
        await start();
        await running.promise;
        const asked = performance.now();
        await temporal.client.workflow.getHandle(sweepWorkflowId(name)).cancel();
        await assert.rejects(result(), WorkflowFailedError);
        assert.ok((await ended.promise) - asked < 2000);
      });
    } finally {
      await sandbox.close();
    }
    assert.deepEqual(await ownContainers(), []);
  });

  it('goes on when a person cancels or terminates single problems', async () => {
    const plan = new ToyPlan(['a', 'b', 'c']);
    const own: Partial<Activities> = {
      isRunning,
      generateProgram: async ({ problem }) => {
        if (problem.taskId !== 'c') await Context.current().cancelled;
        return { kind: 'unusable', reason: 'context_too_long', detail: 'too long' };
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      while (!plan.outcomes.has('c')) await delay(20);
      await problemHandle(name, 'a').cancel();
      await problemHandle(name, 'b').terminate('by hand');
      assert.deepEqual(await result(), { no_code: 1, cancelled: 2 });
      recordHistory('runSweepShard-problems-stopped', await shardHistory(name));
    });
  });

  it('starts again after it was terminated, when the shards of before have ended, and does what was cancelled with them', async () => {
    const plan = new ToyPlan(['a', 'b']);
    let begun = 0;
    let hold = true;
    const own: Partial<Activities> = {
      isRunning,
      endedByHand: async () => 'terminated by me',
      generateProgram: async () => {
        begun += 1;
        if (hold) await Context.current().cancelled;
        return { kind: 'unusable', reason: 'context_too_long', detail: 'too long' };
      },
      recordOutcome: async ({ run, summary }) => {
        // A cancelled problem takes long to end: the new shard finds it still running.
        if (summary.outcome === 'cancelled') await delay(1500);
        return plan.record(run, summary);
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      while (begun < 2) await delay(20);
      await temporal.client.workflow.getHandle(shardWorkflowId(name, 0)).terminate('by hand');
      await assert.rejects(result());
      hold = false;
      await start();
      assert.deepEqual(await result(), { no_code: 2 });
      hold = true;
      plan.outcomes.clear();
      await start();
      while (begun < 6) await delay(20);
      await temporal.client.workflow.getHandle(sweepWorkflowId(name)).terminate('by hand');
      hold = false;
      await start();
      assert.deepEqual(await result(), { no_code: 2 });
      recordHistory('runSweep-after-termination', await sweepHistory(name));
    });
  });

  it('gives its shards disjoint ranges: when a person stops one it does the others, and then says who', async () => {
    const plan = new ToyPlan(Array.from({ length: 102 }, (_, index) => `t${index}`));
    plan.concurrency = 40;
    let hold = true;
    const own: Partial<Activities> = {
      isRunning,
      endedByHand: async () => 'terminated by me',
      generateProgram: async ({ problem }) => {
        if (problem.taskId === 't0' && hold) await Context.current().cancelled;
        return { kind: 'unusable', reason: 'context_too_long', detail: 'too long' };
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      while (plan.outcomes.size < 60) await delay(20);
      await temporal.client.workflow.getHandle(shardWorkflowId(name, 0)).terminate('by hand');
      await assert.rejects(
        result(),
        (error) =>
          error instanceof WorkflowFailedError &&
          error.cause?.message === `${shardWorkflowId(name, 0)} was terminated by me`,
      );
      const second = plan.tasks.slice(51).map((task) => plan.outcomes.get(task)?.outcome);
      assert.deepEqual(second, Array(51).fill('no_code'));
      assert.equal(plan.states.at(-1), 'cancelled');
      recordHistory('runSweep-shard-stopped', await sweepHistory(name));
      hold = false;
      await start();
      assert.deepEqual(await result(), { no_code: 102 });
    });
  });

  it('does every task of a large range once, in several runs of a shard', async () => {
    const plan = new ToyPlan(Array.from({ length: 410 }, (_, index) => `t${index}`));
    let graded = 0;
    const own: Partial<Activities> = {
      generateProgram: async () => ({ kind: 'unusable', reason: 'context_too_long', detail: 'too long' }),
      recordOutcome: async ({ run, summary }) => {
        graded += 1;
        return plan.record(run, summary);
      },
    };
    await withSweep({ plan, own }, async ({ name }) => {
      const queues = { control: name, model: name, sandbox: name };
      const handle = await temporal.client.workflow.start<typeof runSweepShard>('runSweepShard', {
        workflowId: shardWorkflowId(name, 0),
        taskQueue: name,
        args: [{ sweep: name, queues, from: 0, to: 410, window: 40 }],
      });
      await handle.result();
      assert.equal(graded, 410);
      const last = await temporal.client.workflow.getHandle(shardWorkflowId(name, 0)).describe();
      assert.notEqual(last.runId, handle.firstExecutionRunId);
    });
  });

  it('asks once more when a reply cannot be used, and says what was wrong', async () => {
    const plan = new ToyPlan(['a']);
    const asked: { retry: number; complaint: string | undefined }[] = [];
    const own: Partial<Activities> = {
      generateProgram: async ({ context }) => {
        asked.push({ retry: context.retry, complaint: context.complaint });
        return { kind: 'unusable', reason: 'no_code', detail: 'only prose' };
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      assert.deepEqual(await result(), { no_code: 1 });
      assert.deepEqual(asked, [
        { retry: 0, complaint: undefined },
        { retry: 1, complaint: 'only prose' },
      ]);
      recordHistory('solveProblem-asked-again', await historyOf(name, 'a'));
    });
  });

  it('waits out a long Retry-After on a timer that says so, holding no slot, whatever time the worker thinks it is', async () => {
    const plan = new ToyPlan(['a']);
    let calls = 0;
    const until = () => new Date(Date.now() + 3_600_000).toISOString();
    const own: Partial<Activities> = {
      generateProgram: async () => {
        calls += 1;
        return calls === 1
          ? { kind: 'held', reason: 'paced', detail: 'Retry-After', until: until(), waitMs: 1500 }
          : { kind: 'unusable', reason: 'context_too_long', detail: 'no' };
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      await result();
      const events = (await historyOf(name, 'a')).events ?? [];
      const timer = events.find((event) => event.timerStartedEventAttributes);
      assert.match(Buffer.from(timer?.userMetadata?.summary?.data ?? []).toString(), /paced until .* by Retry-After/);
      assert.equal(calls, 2);
      recordHistory('solveProblem-paced', await historyOf(name, 'a'));
    });
  });

  it('retries a worker’s transient failure without telling the strategy', async () => {
    const plan = new ToyPlan(['a']);
    const own: Partial<Activities> = {
      scoreSubmission: async ({ run, solution }): Promise<OutcomeSummary> => {
        if (activityInfo().attempt === 1) throw new Error('container lost');
        return plan.record(run, {
          outcome: 'wrong',
          detail: '',
          finalStep: solution.finalStep,
          tokens: 0,
          requests: 0,
        });
      },
    };
    await withSweep({ plan, own }, async ({ start, result }) => {
      await start();
      assert.deepEqual(await result(), { wrong: 1 });
    });
  });

  it('begins a problem anew when the store is older than its history', async () => {
    const plan = new ToyPlan(['graded', 'nothing to grade']);
    const generated: string[] = [];
    const known: (string[] | undefined)[] = [];
    const older = (steps: string[] | undefined) => {
      known.push(steps);
      return ApplicationFailure.nonRetryable('no row of generate/0', 'StoreIsOlder');
    };
    const reply = { key: '', tokens: { prompt: 0, completion: 0 }, reused: false, prompt: '', reply: '' };
    plan.concurrency = 1;
    const own: Partial<Activities> = {
      generateProgram: async ({ problem: { taskId }, context: { retry } }) => {
        generated.push(`${taskId} ${retry}`);
        return taskId === 'graded'
          ? { kind: 'program', code: 'pass', rule: 'toy', reply }
          : { kind: 'unusable', reason: 'no_code', detail: 'prose', reply };
      },
      scoreSubmission: async ({ run, solution: { finalStep }, steps }) => {
        if (generated.length === 1) throw older(steps);
        return plan.record(run, { outcome: 'pass', detail: '', finalStep, tokens: 0, requests: 0 });
      },
      recordOutcome: async ({ run, summary, steps }) => {
        if (generated.length === 4) throw older(steps);
        return plan.record(run, summary);
      },
    };
    await withSweep({ plan, own }, async ({ start, result }) => {
      await start();
      assert.deepEqual(await result(), { pass: 1, no_code: 1 });
    });
    const nothing = ['nothing to grade 0', 'nothing to grade 1'];
    assert.deepEqual(generated, ['graded 0', 'graded 0', ...nothing, ...nothing]);
    assert.deepEqual(known, [['generate/0'], ['generate/0', 'generate/0/again']]);
  });

  it('shows every step of Algorithm 1 by name in a rejected problem’s history', async () => {
    const plan = new ToyPlan(['never-right'], {
      kind: 'quality-flow',
      checker: 'imagined',
      diversified: 2,
      tests: { queries: 2, perQuery: 1, shared: true },
      tqc: true,
      debugEpochs: 2,
      carryForward: false,
      clarifier: true,
      clarifierAttempts: 1,
      revert: true,
      checkerSeesProblem: false,
    });
    await withSweep({ plan }, async ({ name, start, result }) => {
      await start();
      assert.deepEqual(await result(), { pass: 1 });
      const history = await historyOf(name, 'never-right');
      const activities = (history.events ?? []).flatMap(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
      );
      const order = activities.filter((type, index) => type !== activities[index - 1]);
      const epoch = ['debugProgram', 'imagineExecution', 'comparePredictions', 'runPrograms'];
      assert.deepEqual(order, [
        'generateProgram',
        'imagineExecution',
        'comparePredictions',
        'designTests',
        'judgeTest',
        'runPrograms',
        ...epoch,
        ...epoch,
        'clarifyProblem',
        'generateProgram',
        'imagineExecution',
        'comparePredictions',
        'scoreSubmission',
      ]);
      assert.equal(plan.outcomes.get('never-right')?.finalStep, 'reverted');

      recordHistory('solveProblem-quality-flow', history);
    });
  });

  it('draws in batches, ranks, and submits the best by reference: no text of a program is in the history', async () => {
    const plan = new ToyPlan(['many'], {
      kind: 'select',
      programs: 100,
      tests: { queries: 50, perQuery: 10 },
      method: 'aces-o',
      prefilter: 'none',
      submit: 3,
    });
    const submitted: unknown[] = [];
    const batches: string[] = [];
    let held = true;
    const own: Partial<Activities> = {
      drawPrograms: async ({ from, count }) => {
        // A pause in the middle of a batch: it is asked for again as a whole.
        if (from === 90 && held) {
          held = false;
          return { kind: 'held', reason: 'paced', detail: 'Retry-After', until: new Date().toISOString() };
        }
        batches.push(`${from}+${count}`);
        // The endpoint fails in the middle of another one.
        if (from === 20 && count === 10) {
          const got = ['program/20', 'program/21', 'program/22'];
          return { kind: 'drawn', steps: got, recorded: got, next: 23 };
        }
        const steps = Array.from({ length: count }, (_, index) => `program/${from + index}`);
        // Every program but the tenth of each batch could be used.
        return {
          kind: 'drawn',
          steps: steps.slice(0, -1),
          recorded: steps,
          unusable: { kind: 'unusable', reason: 'no_code', detail: 'prose' },
        };
      },
      scoreSubmission: async ({ run, solution, steps }) => {
        submitted.push(solution, steps?.length);
        return plan.record(run, { outcome: 'pass', detail: '', finalStep: solution.finalStep, tokens: 0, requests: 0 });
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      assert.deepEqual(await result(), { pass: 1 });
      const history = await historyOf(name, 'many');
      assert.deepEqual(batches.toSorted().slice(2, 4), ['20+10', '23+7']);
      assert.equal(batches.length, 11);
      assert.deepEqual(submitted, [
        {
          kind: 'selected',
          top: [
            { step: 'program/2', program: 2 },
            { step: 'program/1', program: 1 },
            { step: 'program/0', program: 0 },
          ],
          finalStep: 'selected',
          note: 'ranked first of 90 programs by aces-o on 50 tests',
        },
        152,
      ]);
      assert.ok((history.events?.length ?? 0) < 150, `${history.events?.length} events`);
      recordHistory('solveProblem-select', history);
    });
  });

  it('says what became of a selection without a program, and of one without a test', async () => {
    const strategy = {
      kind: 'select',
      programs: 2,
      tests: { queries: 1, perQuery: 10 },
      method: 'codet',
      prefilter: 'static',
      submit: 1,
    } as const;
    const none: Drawn = { kind: 'drawn', steps: [], recorded: [] };
    const unusable: Unusable = { kind: 'unusable', reason: 'no_code', detail: 'prose' };
    const plan = new ToyPlan(['no program', 'no test', 'rejected'], strategy);
    const own: Partial<Activities> = {
      drawPrograms: async ({ problem: { taskId }, count }) => {
        if (taskId === 'no program') return { ...none, unusable };
        if (taskId === 'rejected') return { ...none, unusable: { ...unusable, reason: 'rejected' } };
        return { ...none, steps: Array.from({ length: count }, (_, index) => `program/${index}`) };
      },
      drawTests: async () => ({ ...none, unusable }),
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      assert.deepEqual(await result(), { pass: 1, no_code: 1, infra: 1 });
      assert.deepEqual(plan.outcomes.get('no test')?.finalStep, 'unranked');
      assert.deepEqual(plan.outcomes.get('no program')?.detail, 'no_code: prose');
      recordHistory('solveProblem-select-nothing', await historyOf(name, 'no program'));
    });
  });

  it('reverts by ACES when it is told to', async () => {
    const plan = new ToyPlan(['never-right'], {
      kind: 'quality-flow',
      checker: 'critic',
      diversified: 3,
      tests: { queries: 1, perQuery: 1, shared: true },
      tqc: false,
      debugEpochs: 0,
      carryForward: false,
      clarifier: false,
      clarifierAttempts: 1,
      revert: true,
      onRevert: 'aces',
      checkerSeesProblem: false,
    });
    let submitted: unknown;
    const own: Partial<Activities> = {
      rankPool: async () => ({ kind: 'ranked', top: [2], tied: 1 }),
      scoreSubmission: async ({ run, solution }) => {
        submitted = solution.kind === 'submitted' ? [solution.submission, solution.note] : undefined;
        return plan.record(run, { outcome: 'pass', detail: '', finalStep: solution.finalStep, tokens: 0, requests: 0 });
      },
    };
    await withSweep({ plan, own }, async ({ name, start, result }) => {
      await start();
      assert.deepEqual(await result(), { pass: 1 });
      assert.deepEqual(submitted, [2, 'ACES ranks it first of 3 programs on 1 designed test']);
      recordHistory('solveProblem-revert-by-aces', await historyOf(name, 'never-right'));
    });
  });
});
