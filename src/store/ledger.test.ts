import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Account, Cost, ModelReply, ModelRequest } from '../models/model.ts';
import type { SweepSpec } from '../spec/spec.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

const settings = {
  name: 'm',
  endpoint: 'default',
  api: 'chat' as const,
  parameters: {},
  extraBody: {},
  maxTokens: {},
  requestTimeoutMs: 1,
};
const prompt = { version: 'v', agent: 'a', messages: [], temperature: 0, maxTokens: 1 };
const request: ModelRequest = { settings, prompt, seed: 0, sample: 0, retry: 0 };
const reply: ModelReply = {
  kind: 'ok',
  text: 't',
  reasoning: '',
  finishReason: 'stop',
  usage: { prompt: 7, completion: 3 },
  model: 'm',
  latencyMs: 1,
};

async function temporaryHome(t: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'qf-ledger-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  return home;
}

async function createSweep(store: Store, budget: SweepSpec['budget'], name = 's'): Promise<void> {
  await store.createSweep({
    name,
    spec: {
      name,
      benchmark: 'mini',
      strategy: { kind: 'zero-shot' },
      model: settings,
      samples: 1,
      seed: 0,
      concurrency: { problems: 1, requests: 1 },
      budget,
      maxWaitMs: 1,
    },
    specHash: '',
    datasetSha256: '',
    scripted: false,
    endpointIdentity: '',
    tasks: ['a'],
    planned: 1,
  });
}

async function storeWith(t: TestContext, budget: SweepSpec['budget']): Promise<Store> {
  const store = await openStore({ home: await temporaryHome(t) });
  t.after(() => store.close());
  await createSweep(store, budget);
  return store;
}

function account(change: Partial<Account> = {}): Account {
  return { sweep: 's', taskId: 'a', sample: 0, step: 'generate/0', attempt: 'run/1/1', ...change };
}

function cost(tokens: number, microUsd = 0): Cost {
  return { tokens, microUsd };
}

async function reserved(store: Store, requestKey: string, bound: Cost, change: Partial<Account> = {}): Promise<string> {
  const granted = await store.reserve({ account: account(change), requestKey, bound });
  return granted.kind === 'reserved' ? granted.reservation : assert.fail(`${requestKey}: ${granted.kind}`);
}

async function refused(store: Store, requestKey: string, bound: Cost): Promise<string> {
  return (await store.reserve({ account: account(), requestKey, bound })).kind;
}

test('a budget counts settled, open and possibly charged; released costs nothing', async (t) => {
  const store = await storeWith(t, { tokens: 100 });
  const settled = await reserved(store, 'k1', cost(40));
  const charged = await reserved(store, 'k2', cost(30));
  const released = await reserved(store, 'k3', cost(30));
  assert.equal(await refused(store, 'k4', cost(1)), 'wait', 'what is open may still leave room');
  await store.putReply('k1', request, reply, { reservation: settled, cost: cost(10) });
  await store.markPossiblyCharged(charged);
  await store.release(released);
  assert.deepEqual(await store.spent('s'), {
    settled: cost(10),
    open: cost(0),
    possiblyCharged: { ...cost(30), requests: 1 },
    cap: { tokens: 100, microUsd: null },
  });
  assert.equal(await refused(store, 'k4', cost(61)), 'exhausted');
  await reserved(store, 'k4', cost(60));
  assert.equal(await refused(store, 'k5', cost(60)), 'wait');
  assert.equal(await refused(store, 'k5', cost(61)), 'exhausted', 'not even with all of them released');
});

test('money is a cap of its own', async (t) => {
  const store = await storeWith(t, { tokens: 1000, usd: 0.0001 });
  await reserved(store, 'k1', cost(1, 60));
  assert.equal(await refused(store, 'k2', cost(1, 41)), 'wait');
  assert.equal(await refused(store, 'k2', cost(1, 101)), 'exhausted');
  await reserved(store, 'k2', cost(1, 40));
  assert.deepEqual((await store.spent('s')).cap, { tokens: 1000, microUsd: 100 });
});

test('without a budget everything is granted, and counted', async (t) => {
  const store = await storeWith(t, {});
  await reserved(store, 'k1', cost(10 ** 12, 10 ** 12));
  await reserved(store, 'k2', cost(10 ** 12, 10 ** 12));
  assert.deepEqual((await store.spent('s')).open, cost(2 * 10 ** 12, 2 * 10 ** 12));
});

test('a reservation ends once, whoever ends it again; what is possibly charged may still turn out', async (t) => {
  const store = await storeWith(t, {});
  const one = await reserved(store, 'k1', cost(10, 5));
  await store.markPossiblyCharged(one);
  await store.markPossiblyCharged(one);
  await store.putReply('k1', request, reply, { reservation: one, cost: cost(4, 2) });
  await store.markPossiblyCharged(one);
  await store.release(one);
  await store.release('no such reservation');
  const two = await reserved(store, 'k2', cost(10, 5));
  await store.markPossiblyCharged(two);
  await store.release(two);
  const { settled, open, possiblyCharged } = await store.spent('s');
  assert.deepEqual(
    { settled, open, possiblyCharged },
    {
      settled: cost(4, 2),
      open: cost(0),
      possiblyCharged: { ...cost(0), requests: 0 },
    },
  );
});

test('an attempt that finds a reservation of its request open marks it: the killed one may have been charged', async (t) => {
  const store = await storeWith(t, { tokens: 25 });
  await reserved(store, 'k1', cost(10), { attempt: 'run/1/1' });
  const second = await reserved(store, 'k1', cost(10), { attempt: 'run/1/2' });
  assert.deepEqual((await store.spent('s')).possiblyCharged, { ...cost(10), requests: 1 });
  assert.equal(await refused(store, 'k1', cost(10)), 'exhausted', 'now both may have been charged');
  await store.putReply('k1', request, reply, { reservation: second, cost: cost(3) });
  const spent = await store.spent('s');
  assert.deepEqual([spent.settled, spent.open, spent.possiblyCharged.requests], [cost(3), cost(0), 1]);
});

test('a reply that is stored leaves no reservation of its request open, in any sweep', async (t) => {
  const store = await storeWith(t, {});
  await createSweep(store, {}, 'other');
  const killed = await reserved(store, 'k1', cost(10), { sweep: 'other' });
  const alive = await reserved(store, 'k1', cost(10));
  await store.putReply('k1', request, reply, { reservation: alive, cost: cost(3) });
  assert.deepEqual((await store.spent('other')).possiblyCharged, { ...cost(10), requests: 1 });
  // It was alive after all, and paid for a reply that nobody needed.
  await store.putReply('k1', request, { ...reply, text: 'late' }, { reservation: killed, cost: cost(5) });
  const { settled, possiblyCharged } = await store.spent('other');
  assert.deepEqual([settled, possiblyCharged.requests], [cost(5), 0]);
  assert.equal((await store.getReply('k1'))?.text, 't');
});

test('a sweep that ends leaves nothing open', async (t) => {
  for (const state of ['completed', 'cancelled'] as const) {
    const store = await storeWith(t, { tokens: 10 });
    await reserved(store, 'k1', cost(10));
    await store.setSweepState('s', 'paused');
    assert.deepEqual((await store.spent('s')).open, cost(10));
    assert.equal(await store.setSweepState('s', state, { from: ['running'] }), false);
    assert.deepEqual((await store.spent('s')).open, cost(10));
    assert.equal(await store.setSweepState('s', state), true);
    assert.deepEqual((await store.spent('s')).possiblyCharged, { ...cost(10), requests: 1 });
  }
});

test('a raised budget counts at once; nothing else of the spec changes', async (t) => {
  const store = await storeWith(t, { tokens: 10 });
  assert.equal(await refused(store, 'k1', cost(11)), 'exhausted');
  const before = (await store.getPlan('s'))?.spec;
  assert.equal(await store.updateOperational('s', { budget: { tokens: 11, usd: 1 } }), true);
  await reserved(store, 'k1', cost(11));
  assert.equal(await store.updateOperational('s', { concurrency: { problems: 9, requests: 8 }, maxWaitMs: 7 }), true);
  assert.deepEqual((await store.getPlan('s'))?.spec, {
    ...before,
    budget: { tokens: 11, usd: 1 },
    concurrency: { problems: 9, requests: 8 },
    maxWaitMs: 7,
  });
  assert.equal(await store.updateOperational('none', { budget: {} }), false);
});

test('a sweep that is not there has no account', async (t) => {
  const store = await storeWith(t, {});
  const invalid = (error: unknown) => error instanceof StoreError && error.kind === 'invalid';
  await assert.rejects(
    store.reserve({ account: account({ sweep: 'none' }), requestKey: 'k', bound: cost(1) }),
    invalid,
  );
  await assert.rejects(store.spent('none'), invalid);
});

test('a database of before the ledger is brought up to date, with what its sweeps have used', async (t) => {
  const home = await temporaryHome(t);
  const first = await openStore({ home });
  await createSweep(first, {});
  await first.putReply('k1', request, reply);
  await first.putReply('k2', request, { ...reply, usage: null });
  for (const replyKey of ['k1', 'k2'])
    await first.recordStep({
      run: { sweep: 's', taskId: 'a', sample: 0, attempt: 1 },
      step: replyKey,
      activity: 'generateProgram',
      replyKey,
      reused: false,
      result: '',
      startedAt: '',
      durationMs: 1,
    });
  await first.close();
  const raw = new DatabaseSync(join(home, 'qualityflow.db'));
  raw.exec(`
    drop table reservations; drop table ledgers; alter table sweeps drop column state_reason;
    delete from kysely_migration where name = '0002-ledger';
    update sweeps set spec = json_remove(spec, '$.budget', '$.maxWaitMs')`);
  raw.close();
  const store = await openStore({ home });
  t.after(() => store.close());
  const plan = await store.getPlan('s');
  assert.deepEqual([plan?.spec.budget, plan?.spec.maxWaitMs, plan?.stateReason], [{}, 86_400_000, '']);
  assert.deepEqual((await store.spent('s')).settled, cost(10));
  await store.updateOperational('s', { budget: { tokens: 15 } });
  await reserved(store, 'k3', cost(5));
  assert.equal(await refused(store, 'k4', cost(1)), 'wait');
});

/** Reserves, as number argv[2], until nothing is left; settles every second one at a part of its bound. Prints how many were granted and settled. */
const SPENDER = `
const { openStore } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'open-store.ts')).href)});
const [home, number] = [process.argv[1], process.argv[2]];
const store = await openStore({ home });
const settings = ${JSON.stringify(settings)};
const request = { settings, prompt: ${JSON.stringify(prompt)}, seed: 0, sample: 0, retry: 0 };
const reply = ${JSON.stringify(reply)};
const result = { granted: 0, settled: 0, mostUsed: 0, end: '' };
for (let i = 0; result.end === ''; i++) {
  const key = number + '-' + i;
  const account = { sweep: 's', taskId: 'a', sample: 0, step: key, attempt: '1' };
  const granted = await store.reserve({ account, requestKey: key, bound: { tokens: 10, microUsd: 3 } });
  if (granted.kind !== 'reserved') result.end = granted.kind;
  else {
    result.granted++;
    const { settled, open, possiblyCharged } = await store.spent('s');
    result.mostUsed = Math.max(result.mostUsed, settled.tokens + open.tokens + possiblyCharged.tokens);
    if (i % 2 === 0) {
      result.settled++;
      await store.putReply(key, request, reply, { reservation: granted.reservation, cost: { tokens: 5, microUsd: 1 } });
    }
  }
}
await store.close();
process.stdout.write(JSON.stringify(result));
`;

interface Spender {
  granted: number;
  settled: number;
  mostUsed: number;
  end: string;
}

function spend(home: string, number: number): Promise<Spender> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SPENDER, home, String(number)]);
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  return new Promise((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve(JSON.parse(out)) : reject(new Error(errors))));
  });
}

test('three processes that reserve at once never exceed the cap, and leave no room unused', {
  timeout: 120_000,
}, async (t) => {
  const home = await temporaryHome(t);
  const store = await openStore({ home });
  t.after(() => store.close());
  await createSweep(store, { tokens: 2004 });
  const spenders = await Promise.all([0, 1, 2].map((number) => spend(home, number)));
  const sum = (field: 'granted' | 'settled') => spenders.reduce((total, spender) => total + spender[field], 0);
  const open = sum('granted') - sum('settled');
  const spent = await store.spent('s');
  assert.deepEqual(spent.settled, cost(5 * sum('settled'), sum('settled')));
  assert.deepEqual(spent.open, cost(10 * open, 3 * open));
  assert.ok(spenders.every(({ granted, end, mostUsed }) => granted > 0 && end === 'wait' && mostUsed <= 2004));
  const used = spent.settled.tokens + spent.open.tokens;
  // Whoever was refused had a bound of 10 in view; settling gives back 5 a reservation, and one may settle after the others have given up.
  assert.ok(used <= 2004 && used > 2004 - 10 - 5 * spenders.length, String(used));
});
