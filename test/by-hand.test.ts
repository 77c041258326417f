import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Client } from '@temporalio/client';
import { runningProblems } from '../src/cli/sweep-runs.ts';
import type { FaultPlanInput } from '../src/models/scripted/faults.ts';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { openStore } from '../src/store/open-store.ts';
import type { OutcomeRow } from '../src/store/store.ts';
import { connectClient } from '../src/temporal/connection.ts';
import { devStatus } from '../src/temporal/embedded/dev.ts';
import { shardWorkflowId, sweepWorkflowId } from '../src/temporal/ids.ts';
import { problemWorkflowId } from '../src/temporal/problem-id.ts';
import { repeatedCalls } from './chaos/calls.ts';
import { miniSweep } from './chaos/mini-sweep.ts';
import { type ModelProcess, startModelProcess } from './chaos/model-process.ts';
import { booksOf, resultOf } from './chaos/result-of.ts';
import { Project } from './support/cli.ts';
import { temporalBinary } from './support/temporal.ts';

const run = promisify(execFile);

/** As `temporal workflow terminate` signs. */
const TERMINATED = /terminated in Temporal by temporal-cli:\S+: too slow$/;
const SLOW: FaultPlanInput = [{ kind: 'slow', share: 0.6, waitMs: 6000 }];
const CANCELLED = /cancelled in Temporal by temporal-cli:\S+$/;

describe('a person with the `temporal` command', { skip: withoutDocker, timeout: 600_000 }, () => {
  const project = new Project();
  const models: ModelProcess[] = [];
  const cleanUp: (() => Promise<void>)[] = [];
  after(async () => {
    await Promise.all([...models.map((model) => model.stop()), ...cleanUp.map((work) => work())]);
    await project.close();
  });

  /** Starts a sweep on a model of its own, which answers some requests at once and sits on the others, so that there is time for a deed. */
  async function start(spec: (endpoint: string) => object) {
    const process = await startModelProcess({ faults: SLOW, latencyMs: 0 });
    models.push(process);
    await runSpec(spec(process.url), '--detach');
    return process;
  }

  async function runSpec(spec: object, ...flags: string[]): Promise<void> {
    const file = join(project.folder, 'spec.yaml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(spec));
    await succeed('sweep', 'run', file, ...flags);
  }

  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await project.run(...args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** A server of this project is there once a sweep has been started. */
  let connected: Promise<{ address: string; client: Client }> | undefined;
  function server() {
    connected ??= devStatus({ home: project.home }).then(async (dev) => {
      assert.ok(dev !== undefined);
      const { client, connection } = await connectClient({
        connectionOptions: { address: dev.address },
        namespace: dev.namespace,
      });
      cleanUp.push(() => connection.close());
      return { address: dev.address, client };
    });
    return connected;
  }

  async function deed(verb: string, workflowId: string, ...args: string[]): Promise<void> {
    const { address } = await server();
    await run(temporalBinary(), ['workflow', verb, '--workflow-id', workflowId, ...args, '--address', address]);
  }
  const terminate = (workflowId: string) => deed('terminate', workflowId, '--reason', 'too slow');
  const cancel = (workflowId: string) => deed('cancel', workflowId);
  const reset = (workflowId: string, type: 'FirstWorkflowTask' | 'LastWorkflowTask') =>
    deed('reset', workflowId, '--type', type, '--reason', 'look again');

  /** The status of the latest run of any of these ids is this one. */
  const isRunning = async (workflowId: string) =>
    (await (await server()).client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';

  async function untilRunning(sweep: string, count: number): Promise<string[]> {
    const { client } = await server();
    for (const giveUpAt = Date.now() + 60_000; Date.now() < giveUpAt; await delay(100)) {
      const problems = await runningProblems(client, sweep);
      if (problems.length >= count) return problems.map(({ workflowId }) => workflowId).sort();
    }
    assert.fail(`there are never ${count} problems of ${sweep} running`);
  }

  /** Until neither the sweep nor a shard nor a problem of it runs. */
  async function untilEnded(sweep: string): Promise<void> {
    const { client } = await server();
    const query = `SweepId="${sweep}" AND ExecutionStatus="Running"`;
    for (let quiet = 0; quiet < 3; ) {
      const busy = (await isRunning(sweepWorkflowId(sweep))) || (await client.workflow.count(query)).count > 0;
      // What was started a moment ago is not yet counted.
      quiet = busy ? 0 : quiet + 1;
      await delay(300);
    }
  }

  async function rowsOf(sweep: string): Promise<Map<string, OutcomeRow>> {
    const store = await openStore({ home: project.home });
    try {
      const rows = new Map<string, OutcomeRow>();
      for await (const row of store.outcomes(sweep)) rows.set(problemWorkflowId(row.run), row);
      return rows;
    } finally {
      await store.close();
    }
  }

  function assertCancelled(row: OutcomeRow | undefined, detail: RegExp): void {
    assert.equal(row?.outcome, 'cancelled');
    assert.match(row.detail, detail);
  }

  async function assertAskedOnce(model: ModelProcess, sweep: string): Promise<void> {
    const books = booksOf({ home: project.home, sweep, endpoint: model.url });
    assert.deepEqual(repeatedCalls(await model.arrivals(), books), []);
    assert.equal(books.open, 0);
  }

  /** Another sweep of the same spec is answered from the store alone, and shows how the one that was meddled with had to end. */
  async function assertAsUndisturbed(model: ModelProcess, sweep: string, spec: object): Promise<void> {
    const before = (await model.sums()).total;
    await runSpec({ ...spec, name: `${sweep}-again` });
    assert.equal((await model.sums()).total, before, 'a stored request was sent again');
    const [actual, expected] = await Promise.all(
      [sweep, `${sweep}-again`].map((name) => resultOf({ home: project.home, sweep: name })),
    );
    assert.deepEqual(actual, expected);
  }

  it('terminates, cancels and resets problems: the rest goes on, the rows say it, a resume repairs it', async () => {
    const spec = (endpoint: string) => patient(miniSweep({ name: 'problems', endpoint }), endpoint);
    const model = await start(spec);
    const [first = '', second = '', third = '', fourth = ''] = await untilRunning('problems', 6);
    await Promise.all([terminate(first), cancel(second), reset(third, 'FirstWorkflowTask')]);
    await model.play([]);
    await untilEnded('problems');
    const rows = await rowsOf('problems');
    assert.equal(rows.size, 6);
    assertCancelled(rows.get(first), TERMINATED);
    assertCancelled(rows.get(second), CANCELLED);
    assert.ok(rows.get(third)?.submission !== null, 'the one that was reset has come to its end');
    assert.equal([...rows.values()].filter(({ outcome }) => outcome === 'cancelled').length, 2);
    assert.match(await succeed('show', 'problems', taskOf(first)), /too slow/);

    // Those that have ended, too: a final row stays, one that is not is made final.
    await Promise.all([
      reset(third, 'LastWorkflowTask'),
      reset(fourth, 'FirstWorkflowTask'),
      reset(first, 'FirstWorkflowTask'),
    ]);
    await untilEnded('problems');
    const later = await rowsOf('problems');
    assert.deepEqual([later.get(third), later.get(fourth)], [rows.get(third), rows.get(fourth)]);
    assert.ok(later.get(first)?.submission !== null);

    await succeed('sweep', 'resume', 'problems');
    await assertAskedOnce(model, 'problems');
    await assertAsUndisturbed(model, 'problems', spec(model.url));
  });

  it('terminates, cancels and resets shards: the others go on, the sweep says which was stopped by whom', async () => {
    const spec = (endpoint: string) => ({
      name: 'shards',
      benchmark: 'mini',
      limit: 17,
      samples: 6,
      strategy: { kind: 'zero-shot' },
      model: { name: 'scripted', endpoint },
      concurrency: { problems: 12, requests: 12 },
    });
    const left = shardWorkflowId('shards', 0);
    const model = await start(spec);
    await untilRunning('shards', 4);
    await terminate(left);
    await model.play([{ kind: 'refusal' }]);
    await untilEnded('shards');
    const rows = await rowsOf('shards');
    const stopped = [...rows.values()].filter(({ outcome }) => outcome === 'cancelled');
    assert.ok(stopped.length > 0 && stopped.length <= 6);
    for (const row of stopped) assert.match(row.detail, new RegExp(`because ${left} was ${TERMINATED.source}`));
    assert.ok(rows.size - stopped.length >= 51, 'the other shard has done its share');
    assert.match(
      await succeed('sweep', 'status', 'shards'),
      /cancelled: \S+shard\/0 was terminated in Temporal by .*: too slow/,
    );

    await model.play([{ kind: 'slow', waitMs: 60_000 }]);
    await succeed('sweep', 'resume', 'shards', '--detach');
    await untilRunning('shards', 1);
    await reset(left, 'LastWorkflowTask');
    await cancel(left);
    await untilEnded('shards');
    const { state, stateReason } = await project.json('sweep', 'status', 'shards');
    assert.equal(state, 'cancelled');
    assert.match(String(stateReason), new RegExp(`^${left} was ${CANCELLED.source}`));

    await model.play([{ kind: 'refusal' }]);
    await succeed('sweep', 'resume', 'shards');
    await assertAskedOnce(model, 'shards');
  });

  it('terminates, cancels and resets the sweep: it says so, and a resume in the midst of it does nothing twice', async () => {
    const spec = (endpoint: string) => patient(miniSweep({ name: 'whole', endpoint }), endpoint);
    const id = sweepWorkflowId('whole');
    const model = await start(spec);
    await untilRunning('whole', 6);
    await terminate(id);
    await untilEnded('whole');
    for (const row of (await rowsOf('whole')).values())
      assertCancelled(row, new RegExp(`because ${id} was ${TERMINATED.source}`));
    const status = await succeed('sweep', 'status', 'whole');
    assert.match(status, /whole {2}cancelled[^]*cancelled: terminated in Temporal by .*: too slow/);

    await succeed('sweep', 'resume', 'whole', '--detach');
    await untilRunning('whole', 1);
    await reset(id, 'FirstWorkflowTask');
    await terminate(id);
    await succeed('sweep', 'resume', 'whole', '--detach');
    await untilRunning('whole', 1);
    await cancel(id);
    await untilEnded('whole');
    assert.match(await succeed('report', 'whole'), /^cancelled in Temporal by temporal-cli:/m);

    await model.play([]);
    await succeed('sweep', 'resume', 'whole', '--detach');
    await reset(id, 'LastWorkflowTask');
    await untilEnded('whole');
    assert.equal((await project.json('sweep', 'status', 'whole')).state, 'completed');
    await assertAskedOnce(model, 'whole');
    await assertAsUndisturbed(model, 'whole', spec(model.url));
  });
});

/** With the time that the slow requests want. */
function patient(spec: object, endpoint: string): object {
  return { ...spec, model: { name: 'scripted', endpoint, requestTimeoutMs: 60_000 } };
}

function taskOf(workflowId: string): string {
  return decodeURIComponent(workflowId.replace(/^.*\/task\/|#\d+$/g, ''));
}
