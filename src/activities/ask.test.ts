import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { resolveEndpoint } from '../models/endpoints.ts';
import type { ModelRequest } from '../models/model.ts';
import type { SweepSpec } from '../spec/spec.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { ask } from './ask.ts';
import type { Dependencies } from './dependencies.ts';

/** Failures are what these tests are about. */
const silent = new DefaultLogger('ERROR', () => undefined);

/** A sweep `s` of task `a`, and an endpoint that answers with `answer`. */
async function stage(
  t: TestContext,
  { answer, ...change }: { answer: (response: ServerResponse) => void } & Partial<SweepSpec>,
) {
  const home = await mkdtemp(join(tmpdir(), 'qf-ask-'));
  const store = await openStore({ home });
  let arrivals = 0;
  const server = createServer((incoming, response) => {
    arrivals++;
    incoming.resume().on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await store.close();
    await rm(home, { recursive: true, force: true });
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const url = `http://127.0.0.1:${address.port}/v1`;
  const model = {
    name: 'm',
    endpoint: url,
    api: 'chat' as const,
    parameters: { max_tokens: 50 },
    extraBody: {},
    maxTokens: {},
    requestTimeoutMs: 5000,
  };
  await store.createSweep({
    name: 's',
    spec: {
      name: 's',
      benchmark: 'mini',
      strategy: { kind: 'zero-shot' },
      model,
      samples: 1,
      seed: 0,
      concurrency: { problems: 1, requests: 1 },
      budget: {},
      maxWaitMs: 3_600_000,
      ...change,
    },
    specHash: '',
    datasetSha256: '',
    scripted: false,
    endpointIdentity: url,
    tasks: ['a'],
    planned: 1,
  });
  await store.setSweepState('s', 'running');
  const unused = () => assert.fail('asking a model needs nothing else');
  const deps: Dependencies = {
    store,
    sandbox: unused,
    dataset: unused,
    endpoint: (endpoint) => resolveEndpoint({ endpoint, env: {} }),
    reportRequest: () => undefined,
    get client() {
      return unused();
    },
  };
  const question = (text: string) => ({
    context: {
      run: { sweep: 's', taskId: 'a', sample: 0, attempt: 1 },
      step: `generate/${text}`,
      model,
      endpointIdentity: url,
      seed: 0,
      retry: 0,
    },
    activity: 'generateProgram',
    prompt: {
      version: 'generator/0@1',
      agent: 'generator',
      messages: [{ role: 'user' as const, content: text }],
      temperature: 0,
      maxTokens: 50,
    },
    read: ({ text: answer }: { text: string }) => ({ kind: 'answer' as const, answer }),
  });
  return {
    store,
    home,
    arrivals: () => arrivals,
    /** What `ask` makes of a question. */
    request: (text: string): ModelRequest => ({
      settings: model,
      prompt: question(text).prompt,
      seed: 0,
      sample: 0,
      retry: 0,
    }),
    ask: async (text: string, attempt = 1) => {
      let answer: Promise<Awaited<ReturnType<typeof ask<{ kind: 'answer'; answer: string }>>>> | undefined;
      await new MockActivityEnvironment({ attempt, activityId: '7' }, { logger: silent }).run(async () => {
        answer = ask(deps, question(text));
        await answer;
      });
      return answer ?? assert.fail('nothing ran');
    },
  };
}

function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

const good = (response: ServerResponse) =>
  json(response, 200, {
    model: 'm',
    choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 2 },
  });

const state = async (store: Store) => (await store.getPlan('s'))?.state;

test('a reply is paid once, on the account of its sweep', async (t) => {
  const { store, ask, arrivals } = await stage(t, { answer: good, prices: { prompt: 1, completion: 2 } });
  const first = await ask('x');
  const second = await ask('x', 2);
  assert.ok(first.kind === 'answer' && second.kind === 'answer');
  assert.deepEqual([first.reply.reused, second.reply.reused, arrivals()], [false, true, 1]);
  const { settled, open, possiblyCharged } = await store.spent('s');
  assert.deepEqual([settled, open.tokens, possiblyCharged.requests], [{ tokens: 12, microUsd: 14 }, 0, 0]);
});

/** A process that sends the request which `ask('x')` sends, as an earlier attempt, and is killed before a reply comes. */
const KILLED = `
const load = (path) => import(new URL(path, ${JSON.stringify(pathToFileURL(`${import.meta.dirname}/`).href)}).href);
const [{ askModel }, { resolveEndpoint }, { openStore }] = await Promise.all(
  ['../models/ask-model.ts', '../models/endpoints.ts', '../store/open-store.ts'].map(load));
const [home, request] = [process.argv[1], JSON.parse(process.argv[2])];
const store = await openStore({ home });
const account = { sweep: 's', taskId: 'a', sample: 0, step: 'generate/x', attempt: 'run/7/1' };
await askModel({
  request,
  endpoint: resolveEndpoint({ endpoint: request.settings.endpoint, env: {} }),
  replies: store,
  signal: new AbortController().signal,
  billing: { ledger: store, account, prices: undefined },
});
`;

test('killed between sending and storing, an attempt is possibly charged; the next one asks again', async (t) => {
  let arrived = () => {};
  let answer: (response: ServerResponse) => void = () => arrived();
  const { store, home, request, ask, arrivals } = await stage(t, { answer: (response) => answer(response) });
  const onTheWire = new Promise<void>((resolve) => (arrived = resolve));
  const argv = ['--input-type=module', '-e', KILLED, home, JSON.stringify(request('x'))];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([onTheWire, ended]);
  child.kill('SIGKILL');
  await ended;
  assert.equal((await store.spent('s')).possiblyCharged.requests, 0);
  const { tokens: bound } = (await store.spent('s')).open;
  assert.ok(bound > 50, String(bound));

  answer = good;
  const reply = await ask('x', 2);
  assert.ok(reply.kind === 'answer' && !reply.reply.reused);
  const { settled, open, possiblyCharged } = await store.spent('s');
  assert.deepEqual(
    [settled.tokens, open.tokens, possiblyCharged],
    [12, 0, { tokens: bound, microUsd: 0, requests: 1 }],
  );
  assert.equal(arrivals(), 2, 'one arrival more than possibly charged');
});

test('a permanent error blocks the sweep with its reason instead of failing the problem', async (t) => {
  for (const [status, error] of [
    [401, { message: 'Incorrect API key provided' }],
    [404, { message: 'The model `m` does not exist' }],
    [429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }],
  ] as const) {
    const { store, ask } = await stage(t, { answer: (response) => json(response, status, { error }) });
    const held = await ask('x');
    assert.ok(held.kind === 'held', String(status));
    assert.equal(held.reason, 'blocked');
    const plan = await store.getPlan('s');
    assert.equal(plan?.state, 'blocked');
    assert.ok(plan.stateReason.includes(error.message.slice(0, 10)) && held.detail === plan.stateReason);
    assert.deepEqual((await store.spent('s')).possiblyCharged.requests, 0);
  }
});

test('a pause outlives the block of a request that was under way; an ended sweep is not blocked any more', async (t) => {
  const { store, ask } = await stage(t, { answer: (response) => json(response, 401, { error: { message: 'no' } }) });
  await store.setSweepState('s', 'paused');
  const held = await ask('x');
  assert.ok(held.kind === 'held' && held.reason === 'paused');
  await store.setSweepState('s', 'cancelled');
  await assert.rejects(
    ask('x'),
    (error) =>
      error instanceof ApplicationFailure && error.type === 'Model:unauthorized' && error.nonRetryable === true,
  );
  assert.equal(await state(store), 'cancelled');
});

test('a request sent before a resume does not block the resumed sweep again; one sent after it does', async (t) => {
  let meanwhile = async (): Promise<unknown> => undefined;
  const { store, ask, arrivals } = await stage(t, {
    answer: (response) => void meanwhile().then(() => json(response, 401, { error: { message: 'no' } })),
  });
  meanwhile = async () => {
    // Somebody else's request was refused first, and a person has mended it.
    await store.setSweepState('s', 'blocked', { reason: 'no', from: ['running'] });
    await delay(5);
    await store.setSweepState('s', 'running', { from: ['blocked'] });
  };
  const before = await ask('x');
  assert.ok(before.kind === 'held' && before.reason === 'blocked', 'its problem asks again, and has no outcome');
  assert.equal(await state(store), 'running');
  meanwhile = async () => undefined;
  assert.equal((await ask('x')).kind, 'held');
  assert.deepEqual([await state(store), arrivals()], ['blocked', 2]);
});

test('without room in the budget it holds while others may leave some, and fails when nothing can', async (t) => {
  const { store, ask, arrivals } = await stage(t, { answer: good, budget: { tokens: 400 } });
  const account = { sweep: 's', taskId: 'b', sample: 0, step: 'generate/0', attempt: 'other' };
  const other = await store.reserve({ account, requestKey: 'k', bound: { tokens: 399, microUsd: 0 } });
  assert.ok(other.kind === 'reserved');
  const held = await ask('x');
  assert.ok(held.kind === 'held' && held.reason === 'budget');
  await store.markPossiblyCharged(other.reservation);
  await assert.rejects(
    ask('x'),
    (error) => error instanceof ApplicationFailure && error.type === 'budget_exhausted' && error.nonRetryable === true,
  );
  assert.equal(arrivals(), 0);
  await store.updateOperational('s', { budget: { tokens: 1000 } });
  assert.equal((await ask('x')).kind, 'answer');
});

test('a long wait is handed over, a short one is left to the retry, a wait above the longest is handed over too', async (t) => {
  const later = (seconds: number) => (response: ServerResponse) =>
    json(response, 429, { error: { message: 'later' } }, { 'retry-after': String(seconds) });
  const long = await stage(t, { answer: later(1200) });
  const held = await long.ask('x');
  assert.ok(held.kind === 'held' && held.reason === 'paced');
  assert.ok(Math.abs(Date.parse(held.until ?? '') - Date.now() - 1_200_000) < 10_000, held.until);
  const short = await stage(t, { answer: later(60) });
  await assert.rejects(
    short.ask('x'),
    (error) =>
      error instanceof ApplicationFailure && error.type === 'Model:rate_limited' && error.nonRetryable !== true,
  );
  const impatient = await stage(t, { answer: later(60), maxWaitMs: 1000 });
  assert.equal((await impatient.ask('x')).kind, 'held');
  assert.equal((await long.store.spent('s')).open.tokens, 0);
});
