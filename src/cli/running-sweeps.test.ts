import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openBenchmark } from '../problems/benchmark.ts';
import { parseSpecValue } from '../spec/parse-spec.ts';
import { openStore } from '../store/open-store.ts';
import { prepareHome } from '../temporal/embedded/home.ts';
import type { Context } from './context.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { requireOneMeaning, runningSweeps } from './running-sweeps.ts';
import { UserError } from './user-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'qualityflow-running-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const context: Context = {
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: false,
  env: {},
  cwd: folder,
  home: join(folder, 'state'),
  onInterrupt: () => () => {},
};

async function prepared(identity: string, alias = 'default'): Promise<PreparedSweep> {
  const model = { name: 'm', endpoint: alias };
  const parsed = parseSpecValue({ name: 'mine', benchmark: 'mini', strategy: 'zero-shot', model });
  if (parsed.kind === 'problems') return assert.fail(JSON.stringify(parsed.problems));
  const benchmark = await openBenchmark({ benchmark: 'mini', home: folder });
  const endpoint = { alias, baseURL: identity, apiKey: undefined, keyEnv: undefined, identity, scripted: false };
  return { spec: parsed.spec, benchmark, tasks: benchmark.taskIds.slice(0, 1), endpoint, scripted: false, env: {} };
}

test('with nothing up, what the store calls running counts, but for the names left out; a folder without state has none', async () => {
  assert.deepEqual(await runningSweeps({ context }), []);
  const store = await openStore({ home: prepareHome(context.home) });
  const { spec, tasks } = await prepared('http://a/v1');
  for (const name of ['made', 'on', 'done', 'ended']) {
    const row = { specHash: name, datasetSha256: 'd', scripted: false, endpointIdentity: 'http://a/v1', planned: 1 };
    await store.createSweep({ ...row, name, spec: { ...spec, name }, tasks });
  }
  await store.setSweepState('on', 'running');
  await store.setSweepState('done', 'completed');
  await store.setSweepState('ended', 'cancelled');
  await store.close();
  const running = await runningSweeps({ context });
  const sameName = await prepared('http://b/v1');
  assert.deepEqual(
    running.map(({ name }) => name),
    ['on'],
  );
  assert.deepEqual(await runningSweeps({ context, except: ['on'] }), []);

  assert.throws(
    () => requireOneMeaning(running, sameName),
    (error) =>
      error instanceof UserError && error.exitCode === 2 && /sweep on uses it for http:\/\/a\/v1/.test(error.message),
  );
  requireOneMeaning(running, await prepared('http://a/v1'));
  requireOneMeaning(running, await prepared('http://b/v1', 'http://b/v1'));
  requireOneMeaning([], sameName);
});
