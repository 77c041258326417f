import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keepBundle, keptBundle } from './kept-bundle.ts';

test('one bundle is kept, and found by the sources it was made of', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qf-bundle-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const bundles = join(folder, 'bundles');
  assert.equal(keptBundle(bundles), undefined);
  await keepBundle(bundles, 'first');
  writeFileSync(join(bundles, '0123456789ab.js'), 'of another build');
  assert.equal(keptBundle(bundles), 'first');
  await keepBundle(bundles, 'second');
  assert.equal(keptBundle(bundles), 'second');
  assert.equal(readdirSync(bundles).length, 1);
});
