import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

const where = (command: string) => spawnSync('which', [command], { encoding: 'utf8' }).stdout.trim();
const tools = ['setpriv', 'unshare', 'sh', 'sleep'];
const missing = tools.filter((tool) => where(tool) === '');

describe('mmdebstrap', { skip: missing.length === 0 ? false : `no ${missing.join()} on this machine` }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'qualityflow-debian-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const fakePath = async (name: string, commands: string[]): Promise<string> => {
    const path = await mkdtemp(join(folder, name));
    for (const command of commands) {
      if (command !== 'mmdebstrap') {
        await symlink(where(command), join(path, command));
        continue;
      }
      await writeFile(join(path, command), `#!/bin/sh\necho $$ > '${folder}/pid'\nexec sleep 60\n`);
      await chmod(join(path, command), 0o755);
    }
    return path;
  };
  const start = (path: string) => {
    const source = `import { withDebianRoot } from ${JSON.stringify(join(import.meta.dirname, 'debian-base.ts'))};
      await withDebianRoot({ home: ${JSON.stringify(folder)} }, async () => undefined).catch((e) => console.log(e.message));`;
    return spawn(process.execPath, ['--input-type=module', '-e', source], { env: { ...process.env, PATH: path } });
  };

  test('what is missing is named', async () => {
    for (const [command, present] of [
      ['unshare', ['setpriv', 'mmdebstrap']],
      ['setpriv', ['unshare', 'mmdebstrap']],
      ['mmdebstrap', ['setpriv', 'unshare']],
    ] as const) {
      const child = start(await fakePath('missing', [...present]));
      let output = '';
      for await (const chunk of child.stdout) output += String(chunk);
      assert.equal(output.trim(), `${command} is not installed`);
    }
  });

  test('it does not outlive a set-up that is killed', async () => {
    const child = start(await fakePath('killed', [...tools, 'mmdebstrap']));
    const pid = await eventually(async () => {
      const text = await readFile(join(folder, 'pid'), 'utf8').catch(() => '');
      return text.endsWith('\n') ? Number(text) : undefined;
    });
    assert.ok(isRunning(pid));
    child.kill('SIGKILL');
    assert.ok(await eventually(async () => (isRunning(pid) ? undefined : true)));
  });
});

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let round = 0; round < 200; round++) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(50);
  }
  throw new Error('it did not happen within ten seconds');
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
