import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptCode } from './workflow-bundle.ts';

test('a bundle is built once for a build; a torn one and those of other builds are replaced', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'qualityflow-bundle-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, 'cache');
  let built = 0;
  const code = () => keptCode(folder, async () => `code ${++built}`);
  assert.deepEqual([await code(), await code()], ['code 1', 'code 1']);

  const [name = ''] = readdirSync(folder);
  truncateSync(join(folder, name), 3);
  writeFileSync(join(folder, 'workflows-0123456789ab-0123456789ab.js'), 'of another build');
  assert.deepEqual([await code(), await code()], ['code 2', 'code 2']);
  assert.equal(readdirSync(folder).length, 1);
});
