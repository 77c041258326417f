import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { Project } from './support/cli.ts';
import { assertRefused } from './support/refused.ts';

/** Holds ports of the loopback until closed. */
async function occupy(...ports: number[]): Promise<{ close(): void }> {
  const servers = await Promise.all(
    ports.map(async (port) => {
      for (;;) {
        const server = createServer();
        const taken = await new Promise<Server | undefined>((resolve) => {
          server.once('error', () => resolve(undefined));
          server.listen(port, '127.0.0.1', () => resolve(server));
        });
        if (taken !== undefined) return taken;
        await pause(5);
      }
    }),
  );
  return { close: () => servers.forEach((server) => server.close()) };
}

describe('the server of a sweep: what is in its way is said in one sentence with its remedy', {
  skip: withoutDocker,
  timeout: 280_000,
}, () => {
  const project = new Project();
  const file = (name: string) => join(project.home, name);
  const pids = async () => (await project.json('dev')).pids;
  after(() => project.close());

  it('three commands at once, and a supervisor started by hand, are served by one', async () => {
    const [first, ...others] = await Promise.all([pids(), pids(), pids()]);
    for (const other of others) assert.deepEqual(other, first);
    const main = join(import.meta.dirname, '../src/temporal/embedded/supervisor-main.ts');
    const second = spawn(process.execPath, [main, project.home, 'build', 'worker', 'scripted'], { stdio: 'ignore' });
    assert.deepEqual(await once(second, 'exit'), [0, null]);
    assert.deepEqual(await pids(), first);
  });

  it('Temporal’s port is taken while its server is down', async () => {
    const { pid } = JSON.parse(readFileSync(file('dev.json'), 'utf8')).processes.temporal;
    const { temporal } = JSON.parse(readFileSync(file('ports.json'), 'utf8'));
    const address = (await project.json('dev')).address;
    process.kill(pid, 'SIGKILL');
    const other = await occupy(temporal);
    try {
      assertRefused(await project.run('dev'), {
        code: 3,
        wrong: new RegExp(`taken port ${temporal} `),
        remedy: /down/,
      });
      assert.equal((await project.run('down')).code, 0);
      assert.notEqual((await project.json('dev')).address, address);
    } finally {
      other.close();
    }
    assert.equal((await project.run('down')).code, 0);
  });

  it('the ports of before, of the UI and the scripted model, too, are taken when it starts', async () => {
    const before = JSON.parse(readFileSync(file('ports.json'), 'utf8'));
    const other = await occupy(before.temporal, before.ui, before.scripted);
    try {
      const { code, stderr } = await project.run('dev');
      assert.equal(code, 0, stderr);
      const now = JSON.parse(readFileSync(file('ports.json'), 'utf8'));
      for (const name of ['temporal', 'ui', 'scripted']) assert.notEqual(now[name], before[name]);
    } finally {
      other.close();
    }
    assert.equal((await project.run('down')).code, 0);
  });

  it('no Temporal program and no way to fetch one', async () => {
    const dead = 'http://127.0.0.1:1';
    const nowhere = { PATH: '/nowhere', HTTPS_PROXY: dead, HTTP_PROXY: dead, https_proxy: dead, http_proxy: dead };
    const { finished } = project.start(nowhere, 'dev');
    assertRefused(await finished, {
      code: 3,
      wrong: /Temporal could not be fetched/,
      remedy: /on PATH, or set TEMPORAL_ADDRESS/,
    });
  });
});
