import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { Project } from './support/cli.ts';
import { assertRefused } from './support/refused.ts';

const RUN = [
  'sweep',
  'run',
  '--benchmark',
  'mini',
  '--strategy',
  'zero-shot',
  '--model',
  'scripted',
  '--limit',
  '1',
  '--name',
  's',
];
/** `nobody` on Debian and most others. */
const NOBODY = 65_534;
const bin = join(import.meta.dirname, '../bin/qualityflow.mjs');
const cannotBeNobody =
  spawnSync(process.execPath, [bin, '--version'], { uid: NOBODY, gid: NOBODY, cwd: '/' }).status === 0
    ? false
    : 'another user cannot be played from here';

describe('without Docker', { skip: withoutDocker, timeout: 120_000 }, () => {
  it('an engine that is not there is told before anything starts', async () => {
    const project = new Project();
    try {
      const plain = join(project.folder, 'plain');
      writeFileSync(plain, '');
      for (const host of [`unix://${join(project.folder, 'none.sock')}`, `unix://${plain}`, 'tcp://127.0.0.1:1']) {
        const finished = await project.runWith({ DOCKER_HOST: host }, ...RUN);
        assertRefused(finished, {
          code: 3,
          wrong: /there is no Docker engine: connect E/,
          remedy: /[Ss]tart Docker, or set DOCKER_HOST/,
        });
      }
      const nonsense = await project.runWith({ DOCKER_HOST: 'http://[' }, ...RUN);
      assertRefused(nonsense, { code: 3, wrong: /DOCKER_HOST is "http:\/\/\["/, remedy: /Correct it, or unset it/ });
      assert.equal((await project.json('sweep', 'list')).length, 0, 'nothing was begun');
    } finally {
      rmSync(project.folder, { recursive: true, force: true });
    }
  });

  it('an engine that this user may not use is told', { skip: cannotBeNobody }, async () => {
    const project = new Project({ uid: NOBODY, env: { HOME: '/nonexistent' } });
    try {
      const finished = await project.run(...RUN);
      assertRefused(finished, { code: 3, wrong: /this user may not use the Docker engine/, remedy: /group `docker`/ });
    } finally {
      rmSync(project.folder, { recursive: true, force: true });
    }
  });
});
