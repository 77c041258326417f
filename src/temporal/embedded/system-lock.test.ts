import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { takeLock } from './system-lock.ts';

const HOLDER = `
const { takeLock } = await import(process.argv[1]);
if (takeLock(process.argv[2]) === undefined) process.exit(1);
for (let i = 0; i < 5; i += 1) { gc(); await new Promise((resolve) => setTimeout(resolve, 10)); }
console.log('held');
setInterval(() => {}, 1000);
`;

test('a lock excludes other processes, outlives garbage collection, and goes with kill -9', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qf-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'lock');
  const holder = spawn(
    process.execPath,
    ['--expose-gc', '--input-type=module', '-e', HOLDER, join(import.meta.dirname, 'system-lock.ts'), path],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  assert.equal(takeLock(path), undefined);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const lock = takeLock(path);
  assert.ok(lock !== undefined);
  assert.equal(takeLock(path), undefined, 'nor does the same process get it twice');
  lock.release();
  takeLock(path)?.release();
});
