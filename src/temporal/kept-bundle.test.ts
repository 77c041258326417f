import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keepBundle, keptBundle } from './kept-bundle.ts';

test('one bundle is kept, and found by the sources it was made of unless it was torn', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qf-bundle-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const bundles = join(folder, 'bundles');
  assert.equal(keptBundle(bundles), undefined);
  keepBundle(bundles, 'first');
  writeFileSync(join(bundles, '0123456789ab.js'), 'of another build');
  assert.equal(keptBundle(bundles), 'first');
  keepBundle(bundles, 'second');
  assert.equal(keptBundle(bundles), 'second');
  const [name = ''] = readdirSync(bundles);
  assert.equal(readdirSync(bundles).length, 1);
  truncateSync(join(bundles, name), 3);
  assert.equal(keptBundle(bundles), undefined);
});

test('where nothing can be written, nothing is kept, and nobody is disturbed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qf-bundle-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  keepBundle(join(file, 'bundles'), 'code');
  assert.equal(keptBundle(join(file, 'bundles')), undefined);
});
