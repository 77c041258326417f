import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { Project } from './support/cli.ts';

const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

describe('the package, packed and installed in another folder', { skip: withoutDocker, timeout: 280_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'qualityflow-package-'));
  const installed = join(folder, 'node_modules/qualityflow');
  let project: Project;

  before(async () => {
    // A copy, so that the checkout gets no `dist` that its own commands could pick up.
    const copy = join(folder, 'checkout');
    mkdirSync(copy);
    await run(
      'sh',
      ['-c', 'git ls-files -z --cached --others --exclude-standard | xargs -0 tar cf - | tar xf - -C "$0"', copy],
      { cwd: root },
    );
    await run('ln', ['-s', join(root, 'node_modules'), join(copy, 'node_modules')]);
    await run(process.execPath, ['scripts/prepack.mjs'], { cwd: copy });
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: copy });
    const [archive] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    assert.ok(archive);
    writeFileSync(join(folder, 'package.json'), '{"private": true}');
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', `./${archive}`], {
      cwd: folder,
    });
    project = new Project({ command: join(installed, 'bin/qualityflow.mjs') });
  });
  after(async () => {
    await project?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds JavaScript, Python and the mini problems, and neither tests nor TypeScript', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.startsWith('node_modules/'),
    );
    assert.deepEqual(
      files.filter((name) => /\.test\.|(?<!\.d)\.ts$/.test(name)),
      [],
    );
    for (const file of [
      'dist/cli/main.js',
      'dist/workflow-bundle.js',
      'dist/problems/mini/mini.jsonl',
      'dist/grading/judge/replay.py',
    ]) {
      assert.ok(files.includes(file), file);
    }
  });

  it('keeps the folder of the machine that built it to itself', () => {
    const bundle = readFileSync(join(installed, 'dist/workflow-bundle.js'), 'utf8');
    const map = /base64,([\w+/=]+)/.exec(bundle)?.[1] ?? '';
    assert.ok(map.length > 1000);
    assert.ok(!`${bundle}${Buffer.from(map, 'base64').toString()}`.includes(folder));
  });

  it('runs a sweep', async () => {
    assert.ok(existsSync(installed));
    const { code, stderr } = await project.run(
      'sweep',
      'run',
      '--benchmark',
      'mini',
      '--limit',
      '3',
      '--model',
      'scripted',
      '--strategy',
      'standard',
      '--name',
      'packed',
    );
    assert.equal(code, 0, stderr);
    const report = await project.json('report', 'packed');
    assert.equal(report.planned, 3);
  });
});
