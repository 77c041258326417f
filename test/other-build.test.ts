import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { openStore } from '../src/store/open-store.ts';
import { connectClient } from '../src/temporal/connection.ts';
import { devStatus } from '../src/temporal/embedded/dev.ts';
import { problemWorkflowId } from '../src/temporal/problem-id.ts';
import { repeatedCalls } from './chaos/calls.ts';
import { miniSweep } from './chaos/mini-sweep.ts';
import { type ModelProcess, startModelProcess } from './chaos/model-process.ts';
import { booksOf, resultOf } from './chaos/result-of.ts';
import { Project } from './support/cli.ts';

const root = join(import.meta.dirname, '..');

/** An installation like this one, but for one text of one file. */
function otherBuild({ file, text, instead }: { file: string; text: string; instead: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'qualityflow-build-'));
  for (const part of ['src', 'bin', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const source = readFileSync(join(folder, file), 'utf8');
  assert.ok(source.includes(text), `${file} has no ${text}`);
  writeFileSync(join(folder, file), source.replaceAll(text, instead));
  return folder;
}

describe('a new build, and a sweep that an old one began', { skip: withoutDocker, timeout: 600_000 }, () => {
  const summary = {
    file: 'src/workflows/steps.ts',
    text: '`generate with prompt',
    instead: '`once generated with prompt',
  };
  const prompts = { file: 'src/agents/generator.ts', text: "version: '1'", instead: "version: '2'" };
  const folders = [otherBuild(summary), otherBuild(prompts)];
  const project = new Project();
  const [old, incompatible] = folders.map(
    (folder) => new Project({ command: join(folder, 'bin/qualityflow.mjs'), env: { QUALITYFLOW_HOME: project.home } }),
  );
  let model: ModelProcess | undefined;
  after(async () => {
    await model?.stop();
    for (const each of [project, old, incompatible]) await each?.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('is refused the worker by other commands and by other prompts; a resume takes it, and finishes the sweep', async () => {
    assert.ok(old !== undefined && incompatible !== undefined);
    // Some requests wait, so that every problem is in its midst when the worker changes.
    model = await startModelProcess({ faults: [{ kind: 'slow', share: 0.5, waitMs: 60_000 }], latencyMs: 0 });
    const spec = {
      ...miniSweep({ name: 's', endpoint: model.url }),
      model: { name: 'scripted', endpoint: model.url, requestTimeoutMs: 120_000 },
    };
    const file = join(project.folder, 'spec.yaml');
    writeFileSync(file, JSON.stringify(spec));
    const started = await old.run('sweep', 'run', file, '--detach');
    assert.equal(started.code, 0, started.stderr);
    while ((await model.sums()).completed < 4) await delay(50);
    const before = await devStatus({ home: project.home });

    const refused = await project.run('dev');
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /runs the sweep s is another build.*\n.*`qualityflow sweep resume s` hands it over/);
    const different = await incompatible.run('sweep', 'resume', 's', '--detach');
    assert.equal(different.code, 2);
    assert.match(different.stderr, /cannot go on.*\n.*prompts or sandbox/);
    assert.deepEqual((await devStatus({ home: project.home }))?.processes, before?.processes);

    await model.play([]);
    const resumed = await project.run('sweep', 'resume', 's');
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(resumed.stderr, /another build: draining and replacing it/);
    assert.deepEqual(
      repeatedCalls(await model.arrivals(), booksOf({ home: project.home, sweep: 's', endpoint: model.url })),
      [],
    );
    assert.ok(
      (await bundlesOf(project.home, 's')).some((bundles) => bundles === 2),
      'no problem changed its worker',
    );

    const asked = (await model.sums()).total;
    writeFileSync(file, JSON.stringify({ ...spec, name: 'again' }));
    assert.equal((await project.run('sweep', 'run', file)).code, 0);
    assert.equal((await model.sums()).total, asked, 'a stored request was sent again');
    const [actual, expected] = await Promise.all(
      ['s', 'again'].map((sweep) => resultOf({ home: project.home, sweep })),
    );
    assert.deepEqual(actual, expected);
  });
});

/** Of each problem, how many different builds of the workflows have decided about it. */
async function bundlesOf(home: string, sweep: string): Promise<number[]> {
  const dev = await devStatus({ home });
  assert.ok(dev !== undefined);
  const { client, connection } = await connectClient({
    connectionOptions: { address: dev.address },
    namespace: dev.namespace,
  });
  const store = await openStore({ home });
  try {
    const counts: number[] = [];
    for await (const { run } of store.outcomes(sweep)) {
      const { events } = await client.workflow.getHandle(problemWorkflowId(run)).fetchHistory();
      const builds = (events ?? []).flatMap(
        ({ workflowTaskCompletedEventAttributes: task }) => task?.workerVersion?.buildId ?? task?.binaryChecksum ?? [],
      );
      counts.push(new Set(builds).size);
    }
    return counts;
  } finally {
    await store.close();
    await connection.close();
  }
}
