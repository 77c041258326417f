import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { devStatus } from '../src/temporal/embedded/dev.ts';
import { repeatedCalls } from './chaos/calls.ts';
import { miniSweep } from './chaos/mini-sweep.ts';
import { type ModelProcess, startModelProcess } from './chaos/model-process.ts';
import { booksOf, resultOf } from './chaos/result-of.ts';
import { Project } from './support/cli.ts';
import { temporalBinary } from './support/temporal.ts';

const run = promisify(execFile);

describe('a person with the `temporal` command', { skip: withoutDocker, timeout: 280_000 }, () => {
  const project = new Project();
  const models: ModelProcess[] = [];
  after(async () => {
    await Promise.all(models.map((model) => model.stop()));
    await project.close();
  });

  async function start(spec: (endpoint: string) => object, model: Parameters<typeof startModelProcess>[0]) {
    const process = await startModelProcess(model);
    models.push(process);
    const file = join(project.folder, 'spec.yaml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(spec(process.url)));
    await succeed('sweep', 'run', file, '--detach');
    return process;
  }

  async function succeed(...args: string[]): Promise<void> {
    const { code, stderr } = await project.run(...args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  }

  /** The command as a person gives it, against the embedded server. */
  async function temporal(...args: string[]): Promise<string> {
    const dev = await devStatus({ home: project.home });
    assert.ok(dev !== undefined);
    return (await run(temporalBinary(), [...args, '--address', dev.address])).stdout;
  }

  const deed = (verb: string, workflowId: string, ...args: string[]) =>
    temporal('workflow', verb, '--workflow-id', workflowId, ...args);
  const terminate = (workflowId: string) => deed('terminate', workflowId, '--reason', 'too slow');
  const cancel = (workflowId: string) => deed('cancel', workflowId);
  const reset = (workflowId: string, type: 'FirstWorkflowTask' | 'LastWorkflowTask') =>
    deed('reset', workflowId, '--type', type, '--reason', 'look again');

  /** Ids of the running problems of a sweep, as soon as there are `count`. */
  async function runningProblems(sweep: string, count: number): Promise<string[]> {
    const query = `SweepId="${sweep}" AND ExecutionStatus="Running" AND WorkflowType="solveProblem"`;
    for (;;) {
      const text = await temporal('workflow', 'list', '--query', query, '--output', 'json');
      const found: { execution: { workflowId: string } }[] = JSON.parse(text);
      if (found.length >= count) return found.map(({ execution }) => execution.workflowId).sort();
      await delay(100);
    }
  }

  const status = (sweep: string) => project.json('sweep', 'status', sweep);
  async function ended(sweep: string) {
    for (;;) {
      const now = await status(sweep);
      if (now.running === false && (await runningProblems(sweep, 0)).length === 0) return now;
      await delay(200);
    }
  }

  async function rowOf(sweep: string, workflowId: string): Promise<{ outcome: string; detail: string }> {
    const task = decodeURIComponent(workflowId.replace(/^.*\/task\//, '').replace(/#\d+$/, ''));
    const sample = workflowId.replace(/^.*#/, '');
    const { outcome } = JSON.parse(JSON.stringify(await project.json('show', sweep, task, '--sample', sample)));
    return { outcome: outcome?.outcome, detail: outcome?.detail };
  }

  async function assertAskedOnce(model: ModelProcess, sweep: string): Promise<void> {
    const books = booksOf({ home: project.home, sweep, endpoint: model.url });
    assert.deepEqual(repeatedCalls(await model.arrivals(), books), []);
    assert.equal(books.open, 0);
  }

  /** A sweep of the same spec answers every question from the store, and shows how the one that was meddled with had to end. */
  async function assertEndsAsUndisturbed(model: ModelProcess, sweep: string, spec: (name: string) => object) {
    const before = (await model.sums()).total;
    const file = join(project.folder, 'again.yaml');
    writeFileSync(file, JSON.stringify(spec(`${sweep}-again`)));
    await succeed('sweep', 'run', file);
    assert.deepEqual(
      await resultOf({ home: project.home, sweep }),
      await resultOf({ home: project.home, sweep: `${sweep}-again` }),
    );
    assert.equal((await model.sums()).total, before, 'a stored request was sent again');
  }

  it('ends, or repeats, single problems: the rest goes on, the rows say it, a resume repairs it', async () => {
    const spec = (name: string) => (endpoint: string) => miniSweep({ name, endpoint });
    const model = await start(spec('problems'), { faults: [], latencyMs: 500 });
    const [first = '', second = '', third = '', ...others] = await runningProblems('problems', 6);
    await terminate(first);
    await cancel(second);
    await reset(third, 'FirstWorkflowTask');
    const { outcomes, state } = await ended('problems');
    console.log(outcomes, state);
    console.log(await rowOf('problems', first), await rowOf('problems', second), await rowOf('problems', third));

    const before = await model.sums();
    const [fourth = '', fifth = ''] = others;
    await reset(fourth, 'FirstWorkflowTask');
    await reset(fifth, 'LastWorkflowTask');
    await reset(first, 'FirstWorkflowTask');
    await ended('problems');
    console.log(before, await model.sums(), await rowOf('problems', fourth), await rowOf('problems', first));
    await succeed('sweep', 'resume', 'problems');
    await assertAskedOnce(model, 'problems');
    await assertEndsAsUndisturbed(model, 'problems', (name) => spec(name)(model.url));
  });

  it('ends, or repeats, shards', async () => {
    const spec = (endpoint: string) => ({
      name: 'shards',
      benchmark: 'mini',
      samples: 9,
      strategy: { kind: 'zero-shot' },
      model: { name: 'scripted', endpoint },
      concurrency: { problems: 12, requests: 12 },
    });
    const model = await start(spec, { faults: [{ kind: 'refusal', share: 0.9 }], latencyMs: 500 });
    const open = await runningProblems('shards', 12);
    await reset('sweep/shards/shard/2', 'LastWorkflowTask');
    await terminate('sweep/shards/shard/0');
    await cancel('sweep/shards/shard/1');
    const now = await ended('shards');
    console.log(now);
    console.log((await project.run('sweep', 'status', 'shards')).stdout);
    for (const id of open) console.log(id, await rowOf('shards', id));
    await succeed('sweep', 'resume', 'shards');
    console.log(await status('shards'));
    await assertAskedOnce(model, 'shards');
  });

  it('ends, or repeats, the sweep', async () => {
    const spec = (endpoint: string) => miniSweep({ name: 'whole', endpoint });
    const model = await start(spec, { faults: [], latencyMs: 500 });
    const open = await runningProblems('whole', 6);
    await reset('sweep/whole', 'FirstWorkflowTask');
    await terminate('sweep/whole');
    const now = await ended('whole');
    console.log(now);
    console.log((await project.run('sweep', 'status', 'whole')).stdout);
    for (const id of open) console.log(id, await rowOf('whole', id));
    await succeed('sweep', 'resume', 'whole', '--detach');
    await runningProblems('whole', 6);
    await terminate('sweep/whole');
    await succeed('sweep', 'resume', 'whole', '--detach');
    await delay(1500);
    await cancel('sweep/whole');
    console.log(await ended('whole'));
    for (const id of open) console.log(id, await rowOf('whole', id));
    await succeed('sweep', 'resume', 'whole', '--detach');
    await reset('sweep/whole', 'LastWorkflowTask');
    console.log(await ended('whole'));
    await assertAskedOnce(model, 'whole');
  });
});
