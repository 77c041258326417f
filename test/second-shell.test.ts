import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { devStatus } from '../src/temporal/embedded/dev.ts';
import { Project } from './support/cli.ts';

/** A model that is called `slow` and never comes to an end of its replies. */
function slowModel() {
  const server = createServer((request, response) => {
    if (request.method === 'GET')
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'slow', object: 'model' }] }));
  });
  return new Promise<{ url: string; close: () => void }>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ url: `http://127.0.0.1:${port}/v1`, close });
    });
  });
}

describe('a sweep that runs, and a second shell', { skip: withoutDocker, timeout: 280_000 }, () => {
  const project = new Project();
  const sweep = ['sweep', 'run', '--benchmark', 'mini', '--strategy', 'zero-shot', '--limit', '2'];
  let model: Awaited<ReturnType<typeof slowModel>>;
  let other: Awaited<ReturnType<typeof slowModel>>;
  let env: Record<string, string>;
  const worker = async () => (await devStatus({ home: project.home }))?.processes.worker;

  before(async () => {
    [model, other] = await Promise.all([slowModel(), slowModel()]);
    env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-first', QUALITYFLOW_DATA_DIR: project.folder };
  });
  after(async () => {
    await project.close();
    model.close();
    other.close();
  });

  const ended = async (name: string) => {
    assert.equal((await project.run('sweep', 'cancel', name)).code, 0);
    while ((await project.json('sweep', 'status', name)).state === 'running') await pause(300);
  };

  it('keeps what a demo started', async () => {
    const demo = project.run('demo', '--yes');
    while ((await devStatus({ home: project.home }))?.state !== 'running') await pause(100);
    const started = await project.run(
      ...sweep,
      '--model',
      'slow',
      '--endpoint',
      model.url,
      '--name',
      'early',
      '--detach',
    );
    assert.equal(started.code, 0, started.stderr);
    const { code, stderr } = await demo;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /What the demo started stays up, for early;/);
    assert.ok((await worker()) !== undefined);
    await ended('early');
  });

  it('keeps its worker beside commands without settings of their own', async () => {
    const started = await project.runWith(env, ...sweep, '--model', 'slow', '--name', 'big', '--detach');
    assert.equal(started.code, 0, started.stderr);
    const before = await worker();
    assert.ok(before !== undefined);
    const commands = [['dev'], ['solve', 'mini/word-counts', '--model', 'scripted', '--endpoint', 'scripted']];
    for (const command of commands) {
      const { code, stderr } = await project.run(...command);
      assert.ok(code === 0 || (command[0] === 'solve' && code === 1), stderr);
      assert.deepEqual(await worker(), before, command.join(' '));
    }
  });

  it('is protected from every command that brings another setting', async () => {
    const before = await worker();
    const elsewhere = { ...env, OPENAI_BASE_URL: other.url };
    const cases: [Record<string, string>, string[], RegExp][] = [
      [elsewhere, [...sweep, '--model', 'slow', '--name', 'b'], /running sweep big uses it for/],
      [
        { ...env, OPENAI_API_KEY: 'sk-second' },
        [...sweep, '--model', 'slow', '--name', 'c'],
        /^(?!.*sk-).*OPENAI_API_KEY is set otherwise here than for the running sweep big,/m,
      ],
      [{}, ['dev', '--data-dir', '.'], /^/],
    ];
    for (const [more, command, message] of cases) {
      const { code, stderr } = await project.runWith(more, ...command);
      if (command[0] === 'dev') assert.equal(code, 0, stderr);
      else assert.ok(code === 2 || code === 3, `${command.join(' ')}: ${code} ${stderr}`);
      assert.match(stderr, message);
      assert.deepEqual(await worker(), before, command.join(' '));
    }
    const bin = await project.run('dev', '--data-dir', 'bin');
    assert.match(bin.stderr, /QUALITYFLOW_DATA_DIR is set otherwise here than for the running sweep big,/);
    assert.equal(bin.code, 3);
  });

  it('may be given another key by going on with it', async () => {
    const before = await worker();
    const resumed = await project.runWith({ ...env, OPENAI_API_KEY: 'sk-new' }, 'sweep', 'resume', 'big', '--detach');
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.notDeepEqual(await worker(), before);
    await ended('big');
  });
});
