import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openBenchmark } from '../problems/benchmark.ts';
import { parseSpecValue } from '../spec/parse-spec.ts';
import { openStore } from '../store/open-store.ts';
import { createSweep, requireFreeName, requireFreeNameDry, requireSameConditions } from './launch-sweep.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { UserError } from './user-error.ts';

const home = mkdtempSync(join(tmpdir(), 'qualityflow-launch-'));
const store = await openStore({ home });
after(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

const surroundings = {
  datasetSha256: 'd1',
  promptVersions: { generator: 'generator/0@1' },
  fingerprint: { python: '3.11.2', numpy: '1.26.4', runnerSha256: 'r1' },
  endpointIdentity: 'scripted',
};

async function prepared(change: Record<string, unknown> = {}): Promise<PreparedSweep> {
  const raw = { name: 'first', benchmark: 'mini', strategy: 'zero-shot', model: { name: 'm', endpoint: 'scripted' } };
  const parsed = parseSpecValue({ ...raw, ...change });
  if (parsed.kind === 'problems') return assert.fail(JSON.stringify(parsed.problems));
  const benchmark = await openBenchmark({ benchmark: 'mini', home });
  const endpoint = {
    alias: 'scripted',
    baseURL: undefined,
    apiKey: undefined,
    keyEnv: undefined,
    identity: 'scripted',
    scripted: true,
  };
  const tasks = benchmark.taskIds.slice(0, 2);
  return { spec: parsed.spec, benchmark, tasks, endpoint, scripted: true, env: {} };
}

test('a name in use is refused: with the way to go on for the same sweep, with the difference for another', async () => {
  await requireFreeName({ store, prepared: await prepared(), surroundings: async () => surroundings });
  const row = await createSweep({ store, prepared: await prepared({ samples: 3 }), surroundings });
  assert.equal(row.planned, 6);

  await assert.rejects(createSweep({ store, prepared: await prepared({ samples: 3 }), surroundings }), (error) => {
    assert.ok(error instanceof UserError);
    assert.match(error.message, /exists already, with this very spec/);
    assert.match(error.remedy, /sweep resume first/);
    assert.equal(error.exitCode, 2);
    return true;
  });
  await assert.rejects(
    requireFreeName({
      store,
      prepared: await prepared({ strategy: 'standard', samples: 3 }),
      surroundings: async () => surroundings,
    }),
    (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /would differ/);
      assert.ok(
        error.details.filter((line) => line.startsWith('strategy')).join() ===
          'strategy: zero-shot there, quality-flow here',
        error.details.join('\n'),
      );
      return true;
    },
  );
});

test('a dry run refuses a name in use too, without knowing the sandbox', async () => {
  const own = { ...surroundings, datasetSha256: (await prepared()).benchmark.sha256 };
  await requireFreeNameDry({ store, prepared: await prepared({ name: 'dry' }) });
  await createSweep({ store, prepared: await prepared({ name: 'dry' }), surroundings: own });
  const refused = async (change: Record<string, unknown>, words: RegExp) =>
    assert.rejects(
      requireFreeNameDry({ store, prepared: await prepared({ name: 'dry', ...change }) }),
      (error) =>
        error instanceof UserError && error.exitCode === 2 && words.test([error.message, ...error.details].join('\n')),
    );
  await refused({}, /exists already/);
  await refused({ samples: 3 }, /would differ\nsamples: 1 there, 3 here$/);
});

test('a sweep goes on only under the conditions it began with; operational changes are none', async () => {
  const row = await createSweep({
    store,
    prepared: await prepared({ name: 'second' }),
    surroundings: { ...surroundings, datasetSha256: (await prepared()).benchmark.sha256 },
  });
  const now = { ...surroundings, datasetSha256: row.datasetSha256 };
  requireSameConditions(row, now);
  requireSameConditions({ ...row, spec: { ...row.spec, concurrency: { problems: 1, requests: 1 } } }, now);

  const refused = (change: Partial<typeof surroundings>, path: RegExp) =>
    assert.throws(
      () => requireSameConditions(row, { ...now, ...change }),
      (error) => error instanceof UserError && error.exitCode === 2 && path.test(error.details.join('\n')),
    );
  refused({ datasetSha256: 'other' }, /benchmark\.sha256/);
  refused(
    { endpointIdentity: 'http://elsewhere/v1' },
    /model\.endpoint: "scripted" then, "http:\/\/elsewhere\/v1" now/,
  );
  const remedyOf = (change: Partial<typeof surroundings>) => {
    try {
      requireSameConditions(row, { ...now, ...change });
    } catch (error) {
      return error instanceof UserError ? error.remedy : '';
    }
    return '';
  };
  assert.match(remedyOf({ endpointIdentity: 'http://elsewhere/v1' }), /replies belong to the endpoint that gave them/);
  assert.doesNotMatch(remedyOf({ endpointIdentity: 'http://elsewhere/v1' }), /reused/);
  assert.match(remedyOf({ datasetSha256: 'other' }), /reused/);
  refused({ promptVersions: { generator: 'generator/0@2' } }, /prompts or sandbox/);
  refused({ fingerprint: { ...surroundings.fingerprint, runnerSha256: 'r2' } }, /prompts or sandbox/);
});
