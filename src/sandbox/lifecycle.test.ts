import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Docker from 'dockerode';
import { createDockerSandbox } from './docker-sandbox.ts';
import { ensureSandboxImage } from './image.ts';
import { ownerLabels } from './owner.ts';
import { chosenRuntime } from './runtime.ts';
import { type Sandbox, SandboxError } from './sandbox.ts';
import { sweepLeftovers } from './sweeper.ts';
import { docker, ownContainers, rowsOf, sandboxImage, testSandbox, withoutDocker } from './testing.ts';

const LOOP = 'def f(x):\n  while True: pass';
const LONG = { limits: { cpuSeconds: 60 } };

async function eventually(what: string, seconds: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `not within ${seconds} s: ${what}`);
    await delay(50);
  }
}

describe('containers of the sandbox', { skip: withoutDocker }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await testSandbox();
  });
  after(async () => {
    await sandbox.close();
    assert.deepEqual(await ownContainers(), []);
  });
  const works = async () => assert.equal((await rowsOf(sandbox, 'def f(x):\n  return x', ['1']))[0]?.kind, 'value');

  test('sixty jobs use two containers', async () => {
    await Promise.all(Array.from({ length: 60 }, works));
    assert.equal((await ownContainers()).length, 2);
  });

  test('an aborted job ends at once, with the reason of its signal, and the next one works', async () => {
    const stop = new AbortController();
    const running = rowsOf(sandbox, LOOP, ['1'], { ...LONG, signal: stop.signal });
    await delay(300);
    const reason = new Error('enough');
    const started = performance.now();
    stop.abort(reason);
    await assert.rejects(running, (error) => error === reason);
    assert.ok(performance.now() - started < 2000);
    await works();
    await eventually('the container of the aborted job is gone', 5, async () => (await ownContainers()).length <= 2);
  });

  test('time in which the container stood still is not the program’s', async () => {
    const sleeper = 'import time\ndef f(x):\n  for _ in range(15): time.sleep(0.1)\n  return x';
    // Its wall clock is ten times its CPU time.
    const running = rowsOf(sandbox, sleeper, ['1'], { limits: { cpuSeconds: 0.3 } });
    await delay(700);
    const containers = (await ownContainers()).map((id) => docker.getContainer(id));
    await Promise.all(containers.map((container) => container.pause()));
    await delay(4000);
    await Promise.all(containers.map((container) => container.unpause()));
    assert.equal((await running)[0]?.kind, 'value');
    await works();
  });

  test('a program that the machine keeps from running is tried again alone, and then no verdict', async () => {
    const burn =
      'import time\ndef f(x):\n  end = time.process_time() + 0.03\n  while time.process_time() < end: pass\n  return x';
    const run = () => rowsOf(sandbox, burn, ['1'], { limits: { cpuSeconds: 0.06 } });
    const processors = async (share: number) => {
      const containers = (await ownContainers()).map((id) => docker.getContainer(id));
      await Promise.all(containers.map((container) => container.update({ NanoCpus: share * 1e9 })));
    };
    await works();
    await processors(0.01);
    await assert.rejects(run(), (error) => error instanceof SandboxError && /too busy/.test(error.message));
    await processors(1);
    assert.equal((await run())[0]?.kind, 'value');
  });

  test('a job aborted in the queue never starts', async () => {
    const stop = new AbortController();
    const before = [
      rowsOf(sandbox, LOOP, ['1'], { limits: { cpuSeconds: 1 } }),
      rowsOf(sandbox, LOOP, ['1'], { limits: { cpuSeconds: 1 } }),
    ];
    const queued = rowsOf(sandbox, LOOP, ['1'], { ...LONG, signal: stop.signal });
    stop.abort();
    await assert.rejects(queued, { name: 'AbortError' });
    await Promise.all(before);
  });

  test('a job whose container is removed from outside is run again', async () => {
    const running = rowsOf(sandbox, 'import time\ndef f(x):\n  time.sleep(1.5)\n  return x', ['1']);
    await delay(500);
    const containers = (await ownContainers()).map((id) => docker.getContainer(id).remove({ force: true }));
    await Promise.all(containers);
    assert.deepEqual(await running, [{ kind: 'value', value: '1' }]);
  });

  test('a program that needs more memory than its slot allows gets a larger slot', async () => {
    const source = 'def f(x):\n  return len(bytearray(1100 << 20))';
    const limits = { memoryBytes: 2 * 1024 ** 3, cpuSeconds: 20 };
    assert.equal((await rowsOf(sandbox, source, ['1']))[0]?.kind, 'memory_limit');
    assert.deepEqual(await rowsOf(sandbox, source, ['1'], { limits }), [{ kind: 'value', value: '1153433600' }]);
  });

  test('a runtime of the engine can be chosen; one that it does not have is named', async () => {
    const choose = (name: string) => chosenRuntime({ docker, env: { QUALITYFLOW_SANDBOX_RUNTIME: name } });
    assert.equal(await choose(''), undefined);
    await assert.rejects(
      choose('no-such'),
      /no runtime "no-such" \(it has .*runc.*\): register .*unset QUALITYFLOW_SANDBOX_RUNTIME/,
    );
    const runtime = await choose('runc');
    const chosen = await createDockerSandbox({ docker, imageId: await sandboxImage(), slots: 1, runtime });
    const before = new Set(await ownContainers());
    assert.equal((await rowsOf(chosen, 'def f(x):\n  return x', ['1']))[0]?.kind, 'value');
    const [id = ''] = (await ownContainers()).filter((container) => !before.has(container));
    assert.equal((await docker.getContainer(id).inspect()).HostConfig.Runtime, 'runc');
    await chosen.close();
  });

  test('the image is made once', async () => {
    const again = await ensureSandboxImage({ docker, home: '/nonexistent', log: () => undefined });
    assert.equal(again.imageId, await sandboxImage());
    assert.match(again.how, /already there/);
  });

  test('an engine that is not there is an error of the infrastructure', async () => {
    const nowhere = new Docker({ socketPath: '/nonexistent/docker.sock' });
    await assert.rejects(createDockerSandbox({ docker: nowhere, imageId: 'x' }), SandboxError);
    const missing = await createDockerSandbox({ docker, imageId: 'qualityflow-no-such-image' });
    await assert.rejects(rowsOf(missing, 'def f(x): pass', ['1']), SandboxError);
    await missing.close();
    await assert.rejects(rowsOf(missing, 'def f(x): pass', ['1']), SandboxError);
  });

  test('a worker that is killed leaves no container, idle or busy', async () => {
    const script = `
      import { rowsOf, testSandbox } from ${JSON.stringify(new URL('./testing.ts', import.meta.url).href)};
      const sandbox = await testSandbox();
      await rowsOf(sandbox, 'def f(x): return x', ['1']);
      void rowsOf(sandbox, ${JSON.stringify(LOOP)}, ['1'], { limits: { cpuSeconds: 60 } });
      void rowsOf(sandbox, ${JSON.stringify(LOOP)}, ['1'], { limits: { cpuSeconds: 60 } }).catch(() => undefined);
      setTimeout(() => console.log('busy'), 700);`;
    const worker = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.ok(worker.pid !== undefined);
    const pid = worker.pid;
    await once(worker.stdout, 'data');
    assert.equal((await ownContainers(pid)).length, 2);
    worker.kill('SIGKILL');
    await eventually('its containers are gone', 5, async () => (await ownContainers(pid)).length === 0);
  });

  test('what a dead process left behind is swept, what a living one or another host needs is not', async () => {
    const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(dead, 'exit');
    const mine = ownerLabels('programs');
    const create = async (labels: Record<string, string>) =>
      (await docker.createContainer({ Image: await sandboxImage(), Labels: { ...mine, ...labels } })).id;
    const left = await create({ 'qualityflow.pid': String(dead.pid) });
    const reused = await create({ 'qualityflow.started': '1' });
    const living = await create({});
    const foreign = await create({ 'qualityflow.host': 'elsewhere', 'qualityflow.pid': String(dead.pid) });
    try {
      await sweepLeftovers({ docker });
      const found = new Set((await docker.listContainers({ all: true })).map(({ Id }) => Id));
      assert.deepEqual(
        [left, reused, living, foreign].map((id) => found.has(id)),
        [false, false, true, true],
      );
    } finally {
      for (const id of [living, foreign]) await docker.getContainer(id).remove({ force: true });
    }
  });

  test('a container that hears nothing from its host ends by itself, also while a program runs', async () => {
    for (const busy of [false, true]) {
      const container = await docker.createContainer({
        Image: await sandboxImage(),
        OpenStdin: true,
        Env: ['QF_LEASE_SECONDS=1'],
        Labels: ownerLabels('programs'),
        HostConfig: { AutoRemove: true, NetworkMode: 'none' },
      });
      const stream = await container.attach({ stream: true, hijack: true, stdin: true, stdout: true });
      const ended = container.wait({ condition: 'next-exit' });
      await container.start();
      if (busy) {
        const request = {
          op: 'calls',
          source: LOOP,
          entryPoint: 'f',
          calls: ['[[1],{"d":[]}]'],
          limits: { cpuSeconds: 60, memoryBytes: 1 << 29, outputBytes: 100 },
        };
        const body = Buffer.from(JSON.stringify(request));
        const size = Buffer.alloc(4);
        size.writeUInt32BE(body.length);
        stream.write(Buffer.concat([size, body]));
      }
      const outcome = await Promise.race([ended, delay(10_000, 'still there', { ref: false })]);
      assert.deepEqual(outcome, { StatusCode: 0, Error: null });
      stream.end();
    }
  });
});
