import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { backUpStore } from './backup.ts';

test('a backup holds what was stored at its moment, in one file, and overwrites nothing', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qf-backup-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const from = join(folder, 'live.db');
  const to = join(folder, 'copy.db');
  assert.throws(() => backUpStore({ from, to }), { kind: 'unavailable' });

  // Open, and with its rows in the -wal file alone.
  const live = new DatabaseSync(from);
  live.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (name TEXT); INSERT INTO rows VALUES (1)');
  backUpStore({ from, to });
  live.exec('INSERT INTO rows VALUES (2)');
  assert.ok(!existsSync(`${to}-wal`));
  assert.throws(() => backUpStore({ from, to }), { kind: 'invalid', message: /exists already/ });
  assert.throws(() => backUpStore({ from, to: join(folder, 'nowhere', 'copy.db') }), {
    kind: 'invalid',
    message: /nowhere does not exist/,
  });
  assert.throws(() => backUpStore({ from, to: folder }), { kind: 'invalid', message: /is a folder/ });
  live.close();

  const copy = new DatabaseSync(to, { readOnly: true });
  assert.deepEqual(
    copy
      .prepare('select name from rows')
      .all()
      .map(({ name }) => name),
    ['1'],
  );
  copy.close();
});

test('a backup that fails leaves nothing, and a damaged store is named as what is damaged', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qf-backup-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const from = join(folder, 'live.db');
  const target = join(folder, 'target');
  mkdirSync(target);
  const to = join(target, 'copy.db');
  const live = new DatabaseSync(from);
  live.exec('PRAGMA page_size = 4096; CREATE TABLE rows (name TEXT)');
  for (let row = 0; row < 200; row += 1) live.prepare('INSERT INTO rows VALUES (?)').run('x'.repeat(1000));
  live.close();
  const whole = readFileSync(from);
  const cases: [string, Buffer][] = [
    ['no database', Buffer.from('no database '.repeat(500))],
    ['garbage in the middle', Buffer.concat([whole.subarray(0, 8192), Buffer.alloc(whole.length - 8192, 7)])],
    ['empty', Buffer.alloc(0)],
  ];
  for (const [what, content] of cases) {
    writeFileSync(from, content);
    assert.throws(() => backUpStore({ from, to }), { kind: 'corrupt', message: /live[.]db/ }, what);
    assert.deepEqual(readdirSync(target), [], what);
  }
});
