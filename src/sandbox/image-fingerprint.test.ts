import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { keptFingerprint } from './image-fingerprint.ts';

const parent = mkdtempSync(join(tmpdir(), 'qualityflow-fingerprint-'));
after(() => rmSync(parent, { recursive: true, force: true }));

const of = (imageId: string) => ({ python: '3.11.2', numpy: '1.24.2', runnerSha256: 'r', imageId });

function counted(imageId: string) {
  const asked: string[] = [];
  return { asked, ask: async () => (asked.push(imageId), of(imageId)) };
}

test('the second to ask about an image starts nothing, and another image is asked about', async () => {
  const folder = join(parent, 'kept');
  const first = counted('sha256:a');
  assert.deepEqual(await keptFingerprint({ folder, imageId: 'sha256:a', ask: first.ask }), of('sha256:a'));
  assert.deepEqual(await keptFingerprint({ folder, imageId: 'sha256:a', ask: first.ask }), of('sha256:a'));
  assert.equal(first.asked.length, 1);
  const other = counted('sha256:b');
  assert.deepEqual(await keptFingerprint({ folder, imageId: 'sha256:b', ask: other.ask }), of('sha256:b'));
  assert.equal(other.asked.length, 1);
});

test('a torn file, and one of another image, are asked about again', async () => {
  const folder = join(parent, 'torn');
  await keptFingerprint({ folder, imageId: 'x', ask: counted('x').ask });
  const [name = ''] = readdirSync(folder);
  for (const content of ['{"python":"3.1', '', JSON.stringify(of('y'))]) {
    writeFileSync(join(folder, name), content);
    const again = counted('x');
    assert.deepEqual(await keptFingerprint({ folder, imageId: 'x', ask: again.ask }), of('x'));
    assert.equal(again.asked.length, 1);
  }
});

test('a folder that cannot be written costs only the asking', async () => {
  const folder = join(parent, 'file');
  writeFileSync(folder, '');
  const { asked, ask } = counted('x');
  for (let time = 0; time < 2; time += 1)
    assert.deepEqual(await keptFingerprint({ folder, imageId: 'x', ask }), of('x'));
  assert.equal(asked.length, 2);
});
