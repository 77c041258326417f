import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { Project } from './support/cli.ts';
import { assertRefused } from './support/refused.ts';

const RUN = ['sweep', 'run', '--benchmark', 'mini', '--strategy', 'zero-shot', '--model', 'scripted', '--limit', '1'];

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

describe('a sweep’s surroundings: what is wrong is said in one sentence with its remedy, and the same command works after it', {
  skip: withoutDocker,
  timeout: 280_000,
}, () => {
  const project = new Project();
  const file = (name: string) => join(project.home, name);
  const outcomes = async () => JSON.stringify((await project.json('sweep', 'status', 's')).outcomes);
  const pids = async () => (await project.json('dev')).pids;
  before(async () => {
    const { code, stderr } = await project.run(...RUN, '--name', 's');
    assert.equal(code, 0, stderr);
  });
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
      const { code, stderr } = await project.run(...RUN, '--name', 'other-ports');
      assert.equal(code, 0, stderr);
      const now = JSON.parse(readFileSync(file('ports.json'), 'utf8'));
      for (const name of ['temporal', 'ui', 'scripted']) assert.notEqual(now[name], before[name]);
    } finally {
      other.close();
    }
    assert.equal((await project.run('down')).code, 0);
  });

  it('damaged notes of a supervisor, and of its ports, are nobody’s loss', async () => {
    writeFileSync(file('dev.json'), '{"x');
    writeFileSync(file('ports.json'), 'junk');
    assert.equal((await project.run('sweep', 'status', 's')).code, 0);
    assert.equal((await project.run('down')).code, 0);
  });

  it('a damaged lock', async () => {
    writeFileSync(file('dev.lock'), 'junk'.repeat(50));
    const told = { code: 3, wrong: /lock file .*dev\.lock is damaged/, remedy: /Delete it/ };
    assertRefused(await project.run('dev'), told);
    assertRefused(await project.run('down'), told);
    rmSync(file('dev.lock'));
  });

  it('a damaged, truncated or newer store is left as it is, and nothing is lost when it is put back', async () => {
    const good = file('good.db');
    const before = await outcomes();
    new DatabaseSync(file('qualityflow.db')).close();
    copyFileSync(file('qualityflow.db'), good);
    const newer = file('newer.db');
    copyFileSync(good, newer);
    const database = new DatabaseSync(newer);
    database.exec("insert into kysely_migration values ('9999-future', '2099')");
    database.close();
    const cases: [string, Buffer, RegExp, RegExp][] = [
      ['garbage', Buffer.from('no database '.repeat(999)), /is damaged or is not a database/, /backup/],
      ['truncated', readFileSync(good).subarray(0, 50_000), /is damaged or is not a database/, /backup/],
      ['newer', readFileSync(newer), /newer version of qualityflow/, /later/],
    ];
    for (const [what, content, wrong, remedy] of cases) {
      writeFileSync(file('qualityflow.db'), content);
      for (const command of [
        ['report', 's'],
        ['sweep', 'resume', 's'],
        [...RUN, '--name', 'new'],
      ]) {
        assertRefused(await project.run(...command), { code: 3, wrong, remedy });
      }
      assert.ok(readFileSync(file('qualityflow.db')).equals(content), `${what} is untouched`);
      for (const side of ['-wal', '-shm']) rmSync(file(`qualityflow.db${side}`), { force: true });
    }
    copyFileSync(good, file('qualityflow.db'));
    assert.equal(await outcomes(), before);
  });

  it('Temporal’s database is damaged: the store alone is enough to go on', async () => {
    for (const side of ['-wal', '-shm']) rmSync(file(`temporal.db${side}`), { force: true });
    writeFileSync(file('temporal.db'), 'no database '.repeat(999));
    const again = ['sweep', 'retry', 's', 'mini/word-counts', '--force'];
    const wrong = /Temporal's database .*temporal\.db is damaged/;
    assertRefused(await project.run(...again), { code: 3, wrong, remedy: /Move it away/ });
    rmSync(file('temporal.db'));
    const { stdout } = await project.run('sweep', 'list', '--json');
    const [task] = await tasksOf();
    const { code, stderr } = await project.run('sweep', 'retry', 's', task ?? '', '--force');
    assert.equal(code, 0, `${stdout}${stderr}`);
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
    assert.equal(JSON.stringify(await project.json('report', 's')).includes('"planned":1'), true);
  });

  async function tasksOf(): Promise<string[]> {
    const database = new DatabaseSync(file('qualityflow.db'), { readOnly: true });
    try {
      return database
        .prepare("select distinct task_id from outcomes where sweep = 's'")
        .all()
        .map((row) => String(row.task_id));
    } finally {
      database.close();
    }
  }
});
