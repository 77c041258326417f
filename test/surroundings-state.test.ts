import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { devStatus } from '../src/temporal/embedded/dev.ts';
import { Project } from './support/cli.ts';
import { assertRefused } from './support/refused.ts';

const TASK = 'mini/chunks';

describe('damaged state: it is said in one sentence with its remedy, and after that nothing is lost', {
  skip: withoutDocker,
  timeout: 280_000,
}, () => {
  const project = new Project();
  const file = (name: string) => join(project.home, name);
  const run = ['sweep', 'run', '--benchmark', 'mini', '--strategy', 'zero-shot', '--model', 'scripted', '--task', TASK];
  const outcomes = async () => JSON.stringify((await project.json('sweep', 'status', 's')).outcomes);
  const down = async () => assert.equal((await project.run('down')).code, 0);
  before(async () => {
    const { code, stderr } = await project.run(...run, '--name', 's');
    assert.equal(code, 0, stderr);
    await down();
  });
  after(() => project.close());

  it('damaged notes of a supervisor, and of its ports, are nobody’s loss', async () => {
    writeFileSync(file('dev.json'), '{"x');
    writeFileSync(file('ports.json'), 'junk');
    assert.equal((await project.run('sweep', 'status', 's')).code, 0);
    await down();
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
      assertRefused(await project.run('report', 's'), { code: 3, wrong, remedy });
      if (what === 'garbage') assertRefused(await project.run(...run, '--name', 'new'), { code: 3, wrong, remedy });
      assert.ok(readFileSync(file('qualityflow.db')).equals(content), `${what} is untouched`);
      for (const side of ['-wal', '-shm']) rmSync(file(`qualityflow.db${side}`), { force: true });
    }
    copyFileSync(good, file('qualityflow.db'));
    assert.equal(await outcomes(), before);
  });

  it('an empty store is a damaged one', async () => {
    renameSync(file('qualityflow.db'), file('kept.db'));
    writeFileSync(file('qualityflow.db'), '');
    const told = {
      code: 3,
      wrong: /is damaged: it is an empty file/,
      remedy: /Restore it from a backup, or remove it/,
    };
    assertRefused(await project.run('sweep', 'list'), told);
    assertRefused(await project.run('backup', file('copy.db')), told);
    renameSync(file('kept.db'), file('qualityflow.db'));
  });

  it('a store that is replaced under a running worker is the one that the worker goes on with', async () => {
    assert.equal((await project.run('backup', file('copy.db'))).code, 0);
    assert.equal((await project.run(...run, '--name', 'lost')).code, 0);
    const worker = async () => (await devStatus({ home: project.home }))?.processes.worker?.pid;
    const before = await worker();
    assert.ok(before !== undefined);
    for (const name of ['qualityflow.db-wal', 'qualityflow.db-shm']) rmSync(file(name), { force: true });
    renameSync(file('copy.db'), file('qualityflow.db'));
    const deadline = performance.now() + 30_000;
    for (let now = await worker(); now === undefined || now === before; now = await worker()) {
      assert.ok(performance.now() < deadline, 'the worker goes on with the store that has no name');
      await delay(100);
    }
    assert.match(readFileSync(file('logs/worker.log'), 'utf8'), /was replaced while this was running\. Starting again/);
    const { code, stderr } = await project.run(...run, '--name', 'lost');
    assert.equal(code, 0, stderr);
    assert.equal((await project.json('sweep', 'status', 'lost')).unfinished, 0);
    await down();
  });

  it('Temporal’s database is damaged: the store alone is enough to go on', async () => {
    for (const side of ['-wal', '-shm']) rmSync(file(`temporal.db${side}`), { force: true });
    writeFileSync(file('temporal.db'), 'no database '.repeat(999));
    const again = ['sweep', 'retry', 's', TASK, '--force'];
    const wrong = /Temporal's database .*temporal\.db is damaged/;
    assertRefused(await project.run(...again), { code: 3, wrong, remedy: /Move it away/ });
    rmSync(file('temporal.db'));
    const { code, stderr } = await project.run(...again);
    assert.equal(code, 0, stderr);
  });
});
