import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openBenchmark } from '../problems/benchmark.ts';
import { parseSpecValue } from '../spec/parse-spec.ts';
import { openStore } from '../store/open-store.ts';
import { withPrograms } from './extend-programs.ts';
import { firstRequestKeys } from './first-requests.ts';
import { forkedSpec, nameBeside, requireFork } from './fork-sweep.ts';
import { createSweep } from './launch-sweep.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { grow } from './sweep-extend.ts';
import { UserError } from './user-error.ts';

const home = mkdtempSync(join(tmpdir(), 'qualityflow-fork-'));
const store = await openStore({ home });
after(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

test('a fork that nobody has named takes the name of its sweep, as far as that leaves room', () => {
  assert.equal(nameBeside('a'.repeat(59)), `${'a'.repeat(59)}-plus`);
  assert.throws(
    () => nameBeside('a'.repeat(60)),
    (error) =>
      error instanceof UserError &&
      error.exitCode === 2 &&
      /would be named a+-plus, which is too long/.test(error.message),
  );
});

async function prepared(change: Record<string, unknown> = {}): Promise<PreparedSweep> {
  const raw = { name: 'first', benchmark: 'mini', strategy: 'zero-shot', model: { name: 'm', endpoint: 'scripted' } };
  const parsed = parseSpecValue({ ...raw, ...change });
  if (parsed.kind === 'problems') return assert.fail(JSON.stringify(parsed.problems));
  const benchmark = await openBenchmark({ benchmark: 'mini', home });
  const none = { baseURL: undefined, apiKey: undefined, keyEnv: undefined };
  const endpoint = { ...none, alias: 'scripted', identity: 'scripted', scripted: true };
  const tasks = parsed.spec.tasks ?? benchmark.taskIds.slice(0, 2);
  return { spec: parsed.spec, benchmark, tasks, endpoint, scripted: true, env: {} };
}

const fingerprint = { python: '3.11.2', numpy: '1.26.4', runnerSha256: 'r1' };
const surroundingsOf = ({ benchmark }: PreparedSweep) => ({
  datasetSha256: benchmark.sha256,
  promptVersions: { generator: 'generator/0@1' },
  fingerprint,
  endpointIdentity: 'scripted',
});

const said = (message: RegExp, remedy: RegExp) => (error: unknown) =>
  error instanceof UserError && error.exitCode === 2 && message.test(error.message) && remedy.test(error.remedy);

test('the name of a fork is a name, and another one', async () => {
  const { spec } = await prepared();
  assert.deepEqual(forkedSpec(spec, 'second'), { ...spec, name: 'second' });
  for (const name of ['', 'A', '../x', 'x'.repeat(65)])
    assert.throws(() => forkedSpec(spec, name), said(/is no name of a sweep/, /name of its own/));
  assert.throws(() => forkedSpec(spec, 'first'), said(/names the very sweep/, /name of its own/));
});

test('a fork needs a sweep that is there, a free name, and a difference', async () => {
  const first = await prepared();
  const surroundings = surroundingsOf(first);
  await createSweep({ store, prepared: first, surroundings });
  const same = await prepared({ name: 'second' });
  const other = await prepared({ name: 'second', samples: 2 });
  await requireFork({ store, from: 'first', prepared: other, surroundings });
  await requireFork({ store, from: 'first', prepared: other });
  const repeats = said(/would repeat it/, /sweep resume first/);
  await assert.rejects(requireFork({ store, from: 'first', prepared: same, surroundings }), repeats);
  await assert.rejects(requireFork({ store, from: 'first', prepared: same }), repeats);
  const elsewhere = { ...surroundings, fingerprint: { ...fingerprint, python: '3.12.0' } };
  await requireFork({ store, from: 'first', prepared: same, surroundings: elsewhere });
  await assert.rejects(
    requireFork({ store, from: 'frist', prepared: other, surroundings }),
    said(/no sweep named "frist"/, /first/),
  );
  await createSweep({ store, prepared: other, surroundings });
  await assert.rejects(
    requireFork({ store, from: 'first', prepared: other, surroundings }),
    said(/second exists already, so first cannot be forked to it/, /sweep resume second/),
  );
});

test('a sweep that lists its tasks grows by further ones; another by its limit', async () => {
  const listing = await prepared({ name: 'listing', tasks: ['mini/chunks', 'mini/ring-area'] });
  const sweep = await createSweep({ store, prepared: listing, surroundings: surroundingsOf(listing) });
  const growth = { samples: undefined, limit: undefined };
  const grown = grow({ sweep, prepared: listing, ...growth, tasks: ['word-counts', 'mini/chunks'] });
  assert.deepEqual(grown.tasks, ['mini/chunks', 'mini/ring-area', 'mini/word-counts']);
  assert.deepEqual(grown.spec.tasks, grown.tasks);
  assert.throws(
    () => grow({ sweep, prepared: listing, ...growth, tasks: ['mini/chunks'] }),
    said(/a sweep only grows/, /Ask for more/),
  );
  const all = await prepared({ name: 'all', limit: 2 });
  const row = await createSweep({ store, prepared: all, surroundings: surroundingsOf(all) });
  assert.throws(
    () => grow({ sweep: row, prepared: all, ...growth, tasks: ['mini/chunks'] }),
    said(/lists no tasks: it runs the first 2 of mini/, /higher --limit/),
  );
});

test('a selection is extended to more programs, and nothing else is', async () => {
  const strategy = { kind: 'select', programs: 10, tests: { queries: 1, perQuery: 1 } };
  const { spec } = await prepared({ name: 'few', strategy });
  const more = withPrograms({ name: 'few', spec }, 100);
  assert.deepEqual([more.name, more.strategy.kind === 'select' && more.strategy.programs], ['few-100', 100]);
  assert.equal(withPrograms({ name: 'few', spec }, 100, 'many').name, 'many');
  for (const programs of [3, 10, 1001])
    assert.throws(() => withPrograms({ name: 'few', spec }, programs), said(/draws 10 programs a run/, /up to 1000/));
  const plain = await prepared({ name: 'plain' });
  assert.throws(
    () => withPrograms({ name: 'plain', spec: plain.spec }, 5),
    said(/its strategy is zero-shot/, /--samples/),
  );
});

test('a selection asks for the same programs whatever their number, and those of a zero-shot sweep at its parameters', async () => {
  const select = (programs: number) =>
    prepared({ name: 's', samples: 2, strategy: { kind: 'select', programs, tests: { queries: 1, perQuery: 1 } } });
  const few = firstRequestKeys(await select(3));
  const many = new Set(firstRequestKeys(await select(8)));
  assert.equal(new Set(few).size, few.length);
  assert.ok(few.every((key) => many.has(key)));
  const parameters = { temperature: 0.8, top_p: 0.95 };
  const zeroShot = await prepared({
    name: 'z',
    samples: 8,
    model: { name: 'm', endpoint: 'scripted', parameters },
  });
  const shared = firstRequestKeys(zeroShot).filter((key) => many.has(key));
  assert.equal(shared.length, firstRequestKeys(zeroShot).length);
});
