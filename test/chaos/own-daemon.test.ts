import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStart } from '../../src/temporal/embedded/process-table.ts';
import { ownDaemon } from './own-daemon.ts';

test('a daemon may be killed only when it is the very process that set-up has recorded, and the one that is used', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'qf-own-daemon-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  // A process of that name, whatever it does.
  copyFileSync('/bin/sleep', join(home, 'dockerd'));
  const child = spawn(join(home, 'dockerd'), ['60'], { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  while (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'dockerd') await sleep(10);
  const startedAt = processStart(pid) ?? '';
  const record = (text: string) => writeFileSync(join(home, 'dockerd.json'), text);
  const own = (env = {}) => ownDaemon({ home, env });

  assert.equal(own(), undefined, 'nothing is recorded');
  record(JSON.stringify({ pid, startedAt }));
  assert.equal(own(), pid);
  assert.equal(own({ DOCKER_HOST: 'unix:///elsewhere' }), undefined);
  assert.equal(own({ DOCKER_CONTEXT: 'elsewhere' }), undefined);
  record(JSON.stringify({ pid, startedAt: `${startedAt}1` }));
  assert.equal(own(), undefined, 'a later process of the same number');
  record(JSON.stringify({ pid: process.pid, startedAt: processStart(process.pid) }));
  assert.equal(own(), undefined, 'another program');
  for (const broken of ['', '{', '{"pid":0}', '[]']) {
    record(broken);
    assert.equal(own(), undefined, broken);
  }
  record(JSON.stringify({ pid, startedAt }));
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(own(), undefined, 'it has ended');
});
