import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { startTemporal } from '../../test/support/temporal.ts';
import { recordTermination } from '../activities/record-termination.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import { problemWorkflowId } from '../temporal/problem-id.ts';
import { problemStart } from '../temporal/problem-start.ts';
import { queuesFor } from '../temporal/queues.ts';
import { main } from './main.ts';
import { cancelLoneProblems, runningProblems, sweepsWithLoneProblems } from './sweep-runs.ts';
import { isClosing } from './until-closed.ts';

const home = mkdtempSync(join(tmpdir(), 'qualityflow-lone-'));
let temporal: TestWorkflowEnvironment;
let store: Store;
before(async () => {
  store = await openStore({ home });
  temporal = await startTemporal();
});
after(async () => {
  await store.close();
  await temporal.teardown();
  rmSync(home, { recursive: true, force: true });
});

const SPEC = {
  benchmark: 'mini',
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
  seed: 0,
  maxWaitMs: 1000,
} as const;
const NO_ROW = { detail: '', finalStep: '', tokens: 0, requests: 0, trail: [], submission: null, fingerprint: null };

/** One task, with one sample. */
async function sweepNamed(name: string): Promise<void> {
  await store.createSweep({
    name,
    spec: { ...SPEC, name, samples: 1, concurrency: { problems: 1, requests: 1 }, budget: {} },
    specHash: name,
    datasetSha256: '',
    scripted: true,
    endpointIdentity: 'scripted',
    tasks: ['a'],
    planned: 1,
  });
}

/** A command, to which the test's server is the cluster. */
async function qualityflow(...argv: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const texts = { stdout: '', stderr: '' };
  const capture = (name: keyof typeof texts) =>
    new Writable({
      write(chunk, _encoding, done) {
        texts[name] += String(chunk);
        done();
      },
    });
  const exitCode = await main(argv, {
    stdout: capture('stdout'),
    stderr: capture('stderr'),
    interactive: false,
    env: { PATH: process.env.PATH, TEMPORAL_ADDRESS: temporal.address },
    cwd: home,
    home,
    onInterrupt: () => () => {},
  });
  return { exitCode, ...texts };
}

/** As `sweep retry` starts it; nobody serves the queue, so that it ends when the test says so. */
async function startProblem(sweep: string) {
  const run = { sweep, taskId: 'a', sample: 0, attempt: 1 };
  const workflowId = problemWorkflowId(run);
  const plan = { ...SPEC, endpointIdentity: 'scripted' };
  const handle = await temporal.client.workflow.start('solveProblem', {
    ...problemStart({ workflowId, run, plan, queues: queuesFor('scripted') }),
    taskQueue: 'nobody',
  });
  return { run, workflowId, handle };
}

test('a retried problem is found without a run of its sweep, and told to end, as often as that is said', async () => {
  const { client } = temporal;
  const { workflowId, handle } = await startProblem('s');
  const other = await startProblem('t');
  while ((await sweepsWithLoneProblems(client)).length < 2) await delay(50);
  assert.deepEqual((await sweepsWithLoneProblems(client)).sort(), ['s', 't']);
  const alone = await runningProblems(client, 's', { alone: true });
  assert.deepEqual(
    alone.map((problem) => problem.workflowId),
    [workflowId],
  );
  assert.deepEqual(await cancelLoneProblems(client, 's'), [workflowId]);
  await cancelLoneProblems(client, 's');
  assert.equal(await isClosing(client, workflowId), true);
  assert.equal(await isClosing(client, other.workflowId), false);
  await Promise.all([handle, other.handle].map((each) => each.terminate()));
});

test('the row of a problem that was terminated says by whom, unless it has said how it ended', async () => {
  const { client } = temporal;
  await sweepNamed('u');
  const { run, workflowId, handle } = await startProblem('u');
  await handle.terminate('too slow');
  await recordTermination({ store, client }, { run, workflowId });
  const row = await store.getOutcome(run);
  assert.equal(row?.outcome, 'cancelled');
  assert.match(row?.detail ?? '', /^terminated in Temporal by .*: too slow$/);
  assert.ok(row !== undefined);
  await store.recordOutcome({ ...row, run: { ...run, attempt: 2 }, outcome: 'wrong' });
  await recordTermination({ store, client }, { run: { ...run, attempt: 2 }, workflowId });
  assert.equal((await store.getOutcome(run))?.outcome, 'wrong');
});

test('a cancel reaches a retried problem, also one that the list does not show yet; a status counts it as running, a pause names it', async () => {
  await sweepNamed('c');
  await store.setSweepState('c', 'completed');
  const { handle, workflowId } = await startProblem('c');
  const cancelled = await qualityflow('sweep', 'cancel', 'c', '--json');
  assert.deepEqual(JSON.parse(cancelled.stdout), { sweep: 'c', state: 'completed', cancelled: true });
  assert.equal(await isClosing(temporal.client, workflowId), true);
  const { running, stages } = JSON.parse((await qualityflow('sweep', 'status', 'c', '--json')).stdout);
  assert.deepEqual({ running, stages }, { running: true, stages: { generate: 1 } });
  const paused = await qualityflow('sweep', 'pause', 'c');
  assert.equal(paused.exitCode, 2);
  assert.match(paused.stderr, /1 retried problem, which is not paused\.\n.*sweep cancel c/);
  await handle.terminate();
});

test('a cancel of a running sweep takes its retried problem along', async () => {
  await sweepNamed('d');
  await store.setSweepState('d', 'running');
  const sweep = await temporal.client.workflow.start('runSweep', {
    workflowId: sweepWorkflowId('d'),
    taskQueue: 'nobody',
  });
  const { handle, workflowId } = await startProblem('d');
  const { exitCode, stdout } = await qualityflow('sweep', 'cancel', 'd');
  assert.equal(exitCode, 0);
  assert.match(stdout, /^Cancelling d and 1 retried problem\./);
  assert.equal(await isClosing(temporal.client, sweepWorkflowId('d')), true);
  assert.equal(await isClosing(temporal.client, workflowId), true);
  await Promise.all([sweep, handle].map((each) => each.terminate()));
});

test('a resume calls a sweep completed whose runs are all final, but not while its workflow runs', async () => {
  await sweepNamed('e');
  await store.setSweepState('e', 'running');
  const run = { sweep: 'e', taskId: 'a', sample: 0, attempt: 1 };
  await store.recordOutcome({ ...NO_ROW, run, outcome: 'wrong', recordedAt: new Date(0).toISOString() });
  const sweep = await temporal.client.workflow.start('runSweep', {
    workflowId: sweepWorkflowId('e'),
    taskQueue: 'nobody',
  });
  assert.equal((await qualityflow('sweep', 'resume', 'e')).exitCode, 0);
  assert.equal((await store.getPlan('e'))?.state, 'running');
  await sweep.terminate();
  assert.equal((await qualityflow('sweep', 'resume', 'e')).exitCode, 0);
  assert.equal((await store.getPlan('e'))?.state, 'completed');
});
