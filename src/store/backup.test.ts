import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
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
  assert.throws(() => backUpStore({ from, to: join(folder, 'nowhere', 'copy.db') }), { kind: 'unavailable' });
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
