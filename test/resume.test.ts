import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Arrivals } from '../src/models/scripted/arrival-log.ts';
import type { FaultPlanInput } from '../src/models/scripted/faults.ts';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { connectClient } from '../src/temporal/connection.ts';
import { problemWorkflowId } from '../src/temporal/problem-id.ts';
import { repeatedCalls } from './chaos/calls.ts';
import { type ModelProcess, startModelProcess } from './chaos/model-process.ts';
import { booksOf, resultOf, type SweepResult } from './chaos/result-of.ts';
import { type Command, Rig } from './chaos/rig.ts';
import { differences } from './chaos/round.ts';

const LATENCY_MS = 30;

/** `sweep resume` on everything real: command line, supervisor, worker, file-backed Temporal server, sandbox, a model with a log. */
describe('a resume', { skip: withoutDocker }, () => {
  const rig = new Rig();
  let reference: SweepResult;

  before(async () => {
    await rig.docker.open();
    reference = await onModel([], async (model) => {
      await succeeds(rig.run({ name: 'reference', endpoint: model.url }));
      return resultOf({ home: rig.home, sweep: 'reference' });
    });
  });
  after(async () => {
    await rig.down();
    rig.remove();
  });

  it('of a sweep with three failed problems, by two shells at once and without its old runs, does those three once; then nothing', () =>
    onModel(
      ['word_counts', 'chunks', 'initials'].map((matching) => ({ kind: 'status', status: 400, matching })),
      async (model) => {
        const flags = ['--benchmark', 'mini', '--limit', '9', '--strategy', 'zero-shot', '--model', 'scripted'];
        const run = () =>
          rig.project.run('sweep', 'run', ...flags, '--endpoint', model.url, '--name', 'three', '--json');
        const [one, other] = await Promise.all([run(), run()]);
        assert.deepEqual(new Set([one.code, other.code]), new Set([2, 3]), one.stderr + other.stderr);
        assert.match(one.code === 2 ? one.stderr : other.stderr, /sweep three exists already, with this very spec/);
        const failed = ['mini/chunks', 'mini/initials', 'mini/word-counts'];
        const rows = outcomesOf(rig.home, 'three');
        assert.deepEqual(
          rows.filter(({ outcome }) => outcome === 'infra').map(({ task }) => task),
          failed,
        );
        assert.equal(rows.length, 9);

        await withClient(rig, async (client) => {
          await deleteClosed(client, 'three');
          await setFaults(model, []);
          const before = await model.arrivals();
          for (const command of [rig.resume('three'), rig.resume('three')]) await succeeds(command);
          const workflows = await known(client, 'three');
          assert.deepEqual(
            workflows.filter((id) => id.includes('/task/')),
            failed.map((task) => problemWorkflowId({ sweep: 'three', taskId: task, sample: 0 })),
          );
          const after = await model.arrivals();
          assert.equal(after.total - before.total, 3);
          assert.deepEqual(repeatedCalls(after, booksOf({ home: rig.home, sweep: 'three', endpoint: model.url })), []);
          const then = outcomesOf(rig.home, 'three');
          assert.deepEqual(
            then.filter(({ attempt }) => attempt === 2).map(({ task }) => task),
            failed,
          );
          assert.ok(then.every(({ outcome }) => outcome !== 'infra'));

          const again = await rig.project.run('sweep', 'resume', 'three');
          assert.equal(again.code, 0, again.stderr);
          assert.match(again.stderr, /The sweep three is complete/);
          assert.deepEqual(await known(client, 'three'), workflows);
          assert.equal((await model.arrivals()).total, after.total);
          assert.deepEqual(outcomesOf(rig.home, 'three'), then);
        });
      },
    ));

  it('from a backup taken while the sweep ran does what that lacks and nothing else, whatever Temporal remembers and whoever is killed', (t) =>
    onModel([], async (model) => {
      const sweep = { name: 'restored', endpoint: model.url };
      const read = () => booksOf({ home: rig.home, sweep: sweep.name, endpoint: model.url });
      const first = rig.run({ ...sweep, open: 2 });
      await until(async () => outcomesOf(rig.home, sweep.name).length >= 1);
      const backup = join(rig.project.folder, 'backup.db');
      const written = await rig.project.run('backup', backup);
      assert.equal(written.code, 0, written.stderr);
      const refused = await rig.project.run('backup', backup);
      assert.deepEqual([refused.code, /exists already/.test(refused.stderr)], [2, true]);
      const kept = outcomesOf(rig.project.folder, sweep.name, 'backup.db');
      await until(async () => outcomesOf(rig.home, sweep.name).length > kept.length);
      await furtherCompletion(model);
      await rig.killAll(first);

      for (const remembers of ['running workflows', 'nothing'] as const) {
        const begun = performance.now();
        if (remembers === 'nothing') {
          assert.equal((await rig.project.run('down')).code, 0);
          remove(join(rig.home, 'temporal.db'));
        }
        putBack(backup, join(rig.home, 'qualityflow.db'));
        const held = read().replies;
        const before = await model.arrivals();

        let command = rig.resume(sweep.name);
        for (let kills = 0; remembers === 'nothing' && kills < 2; kills += 1) {
          await furtherCompletion(model);
          await rig.killAll(command);
          command = rig.resume(sweep.name);
        }
        await succeeds(command);

        const { replies, possiblyCharged, open } = read();
        assert.deepEqual(differences(reference, await resultOf({ home: rig.home, sweep: sweep.name })), [], remembers);
        assert.equal(open, 0);
        const arrived = arrivedSince(before, await model.arrivals());
        const lacked = [...replies].filter(([body]) => !held.has(body));
        assert.deepEqual([...arrived.keys()].sort(), lacked.map(([body]) => body).sort(), remembers);
        // What was under way when everything was killed is sent once more.
        for (const [body, { keys }] of lacked) {
          const lost = remembers === 'nothing' ? sum(keys.map((key) => possiblyCharged.get(key) ?? 0)) : 0;
          const count = arrived.get(body) ?? 0;
          assert.ok(count >= 1 && count <= 1 + lost, `${body} arrived ${count} times, ${remembers}`);
        }
        const rows = outcomesOf(rig.home, sweep.name);
        for (const row of kept)
          assert.deepEqual(
            rows.find(({ task }) => task === row.task),
            row,
          );
        t.diagnostic(
          `${remembers}: ${lacked.length} requests sent again in ${Math.round(performance.now() - begun)} ms`,
        );
      }
    }));
});

async function onModel<T>(faults: FaultPlanInput, work: (model: ModelProcess) => Promise<T>): Promise<T> {
  const model = await startModelProcess({ faults, latencyMs: LATENCY_MS });
  try {
    return await work(model);
  } finally {
    await model.stop();
  }
}

async function setFaults({ url }: ModelProcess, faults: FaultPlanInput): Promise<void> {
  const answer = await fetch(url.replace('/v1', '/faults'), { method: 'POST', body: JSON.stringify(faults) });
  assert.equal(answer.status, 200);
}

async function succeeds({ finished }: Command): Promise<void> {
  const { code, stderr } = await finished;
  assert.equal(code, 0, stderr);
}

async function until(reached: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await reached())) {
    assert.ok(Date.now() < deadline, 'the moment to wait for does not come');
    await pause(20);
  }
}

/** Rows as they stand, sorted by task; none while there is no store. */
function outcomesOf(
  folder: string,
  sweep: string,
  file = 'qualityflow.db',
): { task: string; outcome: string; attempt: number; recordedAt: string }[] {
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(join(folder, file), { readOnly: true, timeout: 5000 });
  } catch {
    return [];
  }
  try {
    return database
      .prepare('select task_id, outcome, attempt, recorded_at from outcomes where sweep = ? order by task_id')
      .all(sweep)
      .map((row) => ({
        task: String(row.task_id),
        outcome: String(row.outcome),
        attempt: Number(row.attempt),
        recordedAt: String(row.recorded_at),
      }));
  } finally {
    database.close();
  }
}

/** How often each body arrived between two looks; bodies that did not are left out. */
function arrivedSince(before: Arrivals, after: Arrivals): Map<string, number> {
  const counts = Object.entries(after.counts).map(
    ([body, count]) => [body, count - (before.counts[body] ?? 0)] as const,
  );
  return new Map(counts.filter(([, count]) => count > 0));
}

function putBack(backup: string, file: string): void {
  remove(file);
  copyFileSync(backup, file);
}

function remove(database: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true });
}

/** Waits until the model has handed over one completion more. */
async function furtherCompletion(model: ModelProcess): Promise<void> {
  const { completed } = await model.sums();
  await until(async () => (await model.sums()).completed > completed);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

async function withClient(rig: Rig, work: (client: Client) => Promise<void>): Promise<void> {
  const { address, namespace } = await rig.server();
  const { client, connection } = await connectClient({ connectionOptions: { address }, namespace });
  try {
    await work(client);
  } finally {
    await connection.close();
  }
}

/** Ids of the workflows of a sweep that Temporal knows, one a run, once its list says that all have ended. */
async function known(client: Client, sweep: string): Promise<string[]> {
  const ids = async (query: string) => {
    const found: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId);
    return found.sort();
  };
  await until(async () => (await ids(`SweepId="${sweep}" AND ExecutionStatus="Running"`)).length === 0);
  return ids(`SweepId="${sweep}"`);
}

/** As `temporal workflow delete` does. */
async function deleteClosed(client: Client, sweep: string): Promise<void> {
  for (const workflowId of await known(client, sweep)) {
    const { namespace } = client.options;
    await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  }
  await until(async () => (await known(client, sweep)).length === 0);
}
