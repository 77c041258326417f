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
import { repeatedCalls } from './chaos/calls.ts';
import { type ModelProcess, startModelProcess } from './chaos/model-process.ts';
import { booksOf, resultOf, type SweepResult } from './chaos/result-of.ts';
import { type Command, Rig } from './chaos/rig.ts';
import { differences } from './chaos/round.ts';

const LATENCY_MS = 60;

/** `sweep resume` on everything real: command line, supervisor, worker, file-backed Temporal server, sandbox, a model with a log. */
describe('a resume', { skip: withoutDocker, timeout: 280_000 }, () => {
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
        assert.deepEqual([one.code, other.code].sort(), [2, 3], one.stderr + other.stderr);
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
          const resumed = [rig.resume('three'), rig.resume('three')];
          for (const command of resumed) await succeeds(command);
          assert.deepEqual(await started(client, 'three'), ['runSweep', 'runSweepShard', ...failed]);
          const after = await model.arrivals();
          assert.equal(after.total - before.total, 3);
          assert.deepEqual(repeatedCalls(after, booksOf({ home: rig.home, sweep: 'three', endpoint: model.url })), []);
          const then = outcomesOf(rig.home, 'three');
          assert.deepEqual(
            then.filter(({ attempt }) => attempt === 2).map(({ task }) => task),
            failed,
          );

          const again = await rig.project.run('sweep', 'resume', 'three');
          assert.equal(again.code, 0, again.stderr);
          assert.match(again.stderr, /The sweep three is complete/);
          assert.deepEqual(await started(client, 'three'), ['runSweep', 'runSweepShard', ...failed]);
          assert.equal((await model.arrivals()).total, after.total);
          assert.deepEqual(outcomesOf(rig.home, 'three'), then);
        });
      },
    ));

  it('that is killed twice with everything else ends as if nothing had happened', () =>
    onModel([], async (model) => {
      const sweep = { name: 'killed', endpoint: model.url };
      let command = rig.run(sweep);
      for (let kill = 1; kill <= 3; kill += 1) {
        const { completed } = await model.sums();
        await until(async () => (await model.sums()).completed >= completed + 12);
        await rig.killAll(command);
        command = rig.resume('killed');
      }
      await succeeds(command);
      await sameAsUndisturbed(rig, model, 'killed', reference);
    }));

  it('from a backup taken while the sweep ran does what that lacks and nothing else, whatever Temporal remembers', () =>
    onModel([], async (model) => {
      const name = 'restored';
      const first = rig.run({ name, endpoint: model.url, open: 2 });
      await until(async () => outcomesOf(rig.home, name).length >= 2);
      const backup = join(rig.project.folder, 'backup.db');
      assert.equal((await rig.project.run('backup', backup)).code, 0);
      const kept = outcomesOf(rig.project.folder, name, 'backup.db');
      await until(async () => outcomesOf(rig.home, name).length > kept.length);
      const { total } = await model.sums();
      await until(async () => (await model.sums()).total > total + 5);
      await rig.killAll(first);

      for (const remembers of ['running workflows', 'closed workflows', 'nothing']) {
        if (remembers !== 'running workflows') assert.equal((await rig.project.run('down')).code, 0);
        restore(backup, rig.home);
        if (remembers === 'nothing')
          for (const suffix of ['', '-wal', '-shm']) rmSync(join(rig.home, `temporal.db${suffix}`), { force: true });
        const stored = booksOf({ home: rig.home, sweep: name, endpoint: model.url }).replies;
        const before = await model.arrivals();

        await succeeds(rig.resume(name));
        const after = await model.arrivals();
        assert.deepEqual(differences(reference, await resultOf({ home: rig.home, sweep: name })), [], remembers);
        const wanted = [...booksOf({ home: rig.home, sweep: name, endpoint: model.url }).replies.keys()];
        assert.deepEqual(
          arrivedSince(before, after),
          new Map(
            wanted
              .filter((body) => !stored.has(body))
              .map((body) => [body, 1] as const)
              .sort(),
          ),
          `with ${remembers} in Temporal`,
        );
        const rows = outcomesOf(rig.home, name);
        for (const row of kept)
          assert.deepEqual(
            rows.find(({ task }) => task === row.task),
            row,
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
  const deadline = Date.now() + 60_000;
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

async function sameAsUndisturbed(rig: Rig, model: ModelProcess, sweep: string, reference: SweepResult): Promise<void> {
  assert.deepEqual(differences(reference, await resultOf({ home: rig.home, sweep })), []);
  const books = booksOf({ home: rig.home, sweep, endpoint: model.url });
  assert.deepEqual(repeatedCalls(await model.arrivals(), books), []);
  assert.equal(books.open, 0);
}

/** How often each body arrived between two looks; bodies that did not are left out. */
function arrivedSince(before: Arrivals, after: Arrivals): Map<string, number> {
  return new Map(
    Object.entries(after.counts)
      .map(([body, count]) => [body, count - (before.counts[body] ?? 0)] as const)
      .filter(([, count]) => count > 0)
      .sort(),
  );
}

function restore(backup: string, home: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(join(home, `qualityflow.db${suffix}`), { force: true });
  copyFileSync(backup, join(home, 'qualityflow.db'));
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

/** Workflows of a sweep that Temporal knows: types, and the tasks of problems; waits until its list knows their ends. */
async function started(client: Client, sweep: string): Promise<string[]> {
  const ids = async (query: string) => {
    const found: string[] = [];
    for await (const { workflowId, type } of client.workflow.list({ query }))
      found.push(type === 'solveProblem' ? decodeURIComponent(workflowId.replace(/^.*\/task\/(.*)#0$/, '$1')) : type);
    return found;
  };
  await until(async () => (await ids(`SweepId="${sweep}" AND ExecutionStatus="Running"`)).length === 0);
  const order = (name: string) => (name.startsWith('mini/') ? `~${name}` : name);
  return (await ids(`SweepId="${sweep}"`)).sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

async function deleteClosed(client: Client, sweep: string): Promise<void> {
  await started(client, sweep);
  for await (const { workflowId, runId } of client.workflow.list({ query: `SweepId="${sweep}"` })) {
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
    });
  }
  await until(async () => (await started(client, sweep)).length === 0);
}
