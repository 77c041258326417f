import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { withoutDocker } from '../src/sandbox/testing.ts';
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
