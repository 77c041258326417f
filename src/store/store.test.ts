import assert from 'node:assert/strict';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import type { Outcome } from '../activities/contract.ts';
import type { ModelReply, ModelRequest } from '../models/model.ts';
import type { SweepSpec } from '../spec/spec.ts';
import { keyText } from './encoding.ts';
import { knownMigrations } from './migrations.ts';
import { openStore } from './open-store.ts';
import type { OutcomeRow, StepRow, Store, SweepRow } from './store.ts';
import { StoreError } from './store-error.ts';

async function temporaryHome(t: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'qf-store-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  return home;
}

async function freshStore(t: TestContext): Promise<Store> {
  const store = await openStore({ home: await temporaryHome(t) });
  t.after(() => store.close());
  return store;
}

function spec(overrides: Partial<SweepSpec> = {}): SweepSpec {
  return {
    name: 's',
    benchmark: 'mini',
    strategy: { kind: 'zero-shot' },
    model: {
      name: 'm',
      endpoint: 'default',
      api: 'chat',
      parameters: {},
      extraBody: {},
      maxTokens: {},
      requestTimeoutMs: 1000,
    },
    samples: 1,
    seed: 0,
    concurrency: { problems: 1, requests: 1 },
    budget: {},
    maxWaitMs: 1000,
    ...overrides,
  };
}

function sweep(input: {
  name?: string;
  tasks: string[];
  samples?: number;
}): Omit<SweepRow, 'state' | 'stateReason' | 'createdAt' | 'updatedAt'> {
  const samples = input.samples ?? 1;
  return {
    name: input.name ?? 's',
    spec: spec({ name: input.name ?? 's', samples }),
    specHash: 'hash',
    datasetSha256: 'data',
    scripted: false,
    endpointIdentity: 'http://localhost/v1',
    tasks: input.tasks,
    planned: input.tasks.length * samples,
  };
}

function outcome(input: {
  task: string;
  outcome: Outcome;
  sample?: number;
  attempt?: number;
  sweep?: string;
  detail?: string;
}): OutcomeRow {
  return {
    run: { sweep: input.sweep ?? 's', taskId: input.task, sample: input.sample ?? 0, attempt: input.attempt ?? 1 },
    outcome: input.outcome,
    detail: input.detail ?? '',
    finalStep: 'generated',
    tokens: 10,
    requests: 1,
    trail: [],
    submission: null,
    fingerprint: null,
    recordedAt: '2026-01-01T00:00:00.000Z',
  };
}

const request: ModelRequest = {
  settings: spec().model,
  prompt: {
    version: 'generator/0@1',
    agent: 'generator',
    messages: [{ role: 'user', content: 'hi' }],
    temperature: 0,
    maxTokens: 9,
  },
  seed: 0,
  sample: 0,
  retry: 0,
};

function reply(overrides: Partial<ModelReply> = {}): ModelReply {
  return {
    kind: 'ok',
    text: 't',
    reasoning: '',
    finishReason: 'stop',
    usage: { prompt: 7, completion: 3 },
    model: 'm',
    latencyMs: 5,
    ...overrides,
  };
}

function step(overrides: Partial<StepRow> & { step: string }): StepRow {
  return {
    run: { sweep: 's', taskId: 'a', sample: 0, attempt: 1 },
    activity: 'generateProgram',
    reused: false,
    result: '{}',
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 1,
    ...overrides,
  };
}

test('a sweep comes back as it went in, and its name is taken once', async (t) => {
  const store = await freshStore(t);
  const input = sweep({ tasks: ['b/2', 'a/1', '../etc passwd'], samples: 2 });
  assert.equal(await store.createSweep(input), 'created');
  assert.equal(await store.createSweep({ ...input, tasks: ['other'], planned: 2 }), 'exists');
  const row = await store.getSweep('s');
  assert.ok(row);
  const { state, stateReason, createdAt, updatedAt, ...rest } = row;
  assert.deepEqual(rest, input);
  assert.deepEqual([state, stateReason], ['created', '']);
  assert.equal(createdAt, updatedAt);
  await store.setSweepState('s', 'running');
  assert.deepEqual(
    (await store.listSweeps()).map((s) => [s.name, s.state]),
    [['s', 'running']],
  );
  assert.equal(await store.getSweep('other'), undefined);
});

test('a state changes only from where it may, and the reason lasts as long as the state', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: ['x'] }));
  const now = async () => {
    const plan = await store.getPlan('s');
    return [plan?.state, plan?.stateReason];
  };
  await store.setSweepState('s', 'running');
  assert.equal(await store.setSweepState('s', 'blocked', { reason: 'bad key\0', from: ['running'] }), true);
  assert.deepEqual(await now(), ['blocked', 'bad key\ufffd']);
  assert.equal(await store.setSweepState('s', 'blocked', { reason: 'another', from: ['running'] }), false);
  assert.equal(await store.setSweepState('s', 'paused', { from: ['running', 'created'] }), false);
  assert.deepEqual(await now(), ['blocked', 'bad key\ufffd']);
  assert.equal(await store.setSweepState('s', 'running', { from: ['paused', 'blocked'] }), true);
  assert.deepEqual(await now(), ['running', '']);
  assert.equal(await store.setSweepState('none', 'running'), false);
});

test('limits are those of the running sweeps only', async (t) => {
  const store = await freshStore(t);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await store.createSweep(sweep({ name, tasks: ['x'] }));
  await store.setSweepState('b', 'running');
  await store.setSweepState('c', 'completed');
  await store.setSweepState('d', 'paused');
  await store.setSweepState('e', 'blocked');
  assert.deepEqual(await store.runningLimits(), [{ endpoint: 'default', requests: 1 }]);
});

test('a plan that does not add up is a broken contract and leaves nothing behind', async (t) => {
  const store = await freshStore(t);
  await assert.rejects(store.createSweep({ ...sweep({ tasks: ['a'] }), planned: 3 }), RangeError);
  await assert.rejects(store.createSweep(sweep({ tasks: ['a', 'a'] })), RangeError);
  assert.deepEqual(await store.listSweeps(), []);
});

test('text of SQL is only text', async (t) => {
  const store = await freshStore(t);
  const name = "'; DROP TABLE outcomes; --";
  const task = `x' OR '1'='1" \\ %_?`;
  await store.createSweep(sweep({ name, tasks: [task, 'y'] }));
  assert.equal(await store.recordOutcome(outcome({ sweep: name, task, outcome: 'pass' })), true);
  assert.deepEqual(await store.countOutcomes(name), { pass: 1 });
  assert.equal((await store.getOutcome({ sweep: name, taskId: task, sample: 0 }))?.outcome, 'pass');
  assert.equal(await store.getOutcome({ sweep: name, taskId: "y' OR 1=1 --", sample: 0 }), undefined);
});

const NOT_FINAL: Outcome[] = ['infra', 'budget_exhausted', 'cancelled'];
const FINAL: Outcome[] = [
  'pass',
  'wrong',
  'error',
  'timeout',
  'memory_limit',
  'output_limit',
  'no_code',
  'refused',
  'truncated',
  'invalid_test',
];

test('a final outcome never changes, whatever comes later', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: FINAL }));
  for (const first of FINAL) {
    assert.equal(await store.recordOutcome(outcome({ task: first, outcome: first, detail: 'first' })), true);
    for (const later of ['pass', 'infra', 'wrong'] as const) {
      assert.equal(
        await store.recordOutcome(outcome({ task: first, outcome: later, attempt: 9, detail: 'later' })),
        false,
      );
    }
    const row = await store.getOutcome({ sweep: 's', taskId: first, sample: 0 });
    assert.deepEqual([row?.outcome, row?.detail, row?.run.attempt], [first, 'first', 1]);
  }
});

test('an outcome that is not final gives way to an equal or later attempt only', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: NOT_FINAL }));
  for (const first of NOT_FINAL) {
    assert.equal(await store.recordOutcome(outcome({ task: first, outcome: first, attempt: 2 })), true);
    assert.equal(
      await store.recordOutcome(outcome({ task: first, outcome: 'pass', attempt: 1 })),
      false,
      'a straggler of an earlier attempt',
    );
    assert.equal(await store.recordOutcome(outcome({ task: first, outcome: 'infra', attempt: 2 })), true);
    assert.equal(await store.recordOutcome(outcome({ task: first, outcome: 'wrong', attempt: 3 })), true);
    assert.equal((await store.getOutcome({ sweep: 's', taskId: first, sample: 0 }))?.outcome, 'wrong');
  }
  assert.deepEqual(await store.countOutcomes('s'), { wrong: 3 }, 'a retried run counts once');
});

test('an outcome outside of the plan is refused', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: ['a'], samples: 2 }));
  await assert.rejects(store.recordOutcome(outcome({ task: 'b', outcome: 'pass' })), StoreError);
  await assert.rejects(store.recordOutcome(outcome({ task: 'a', sample: 2, outcome: 'pass' })), StoreError);
  await assert.rejects(store.recordOutcome(outcome({ sweep: 'none', task: 'a', outcome: 'pass' })), StoreError);
  assert.deepEqual(await store.countOutcomes('s'), {});
});

test('unfinished runs are listed by position, with the attempt that comes next', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: ['a', 'b', 'c'], samples: 2 }));
  await store.recordOutcome(outcome({ task: 'a', sample: 1, outcome: 'pass' }));
  await store.recordOutcome(outcome({ task: 'b', sample: 0, outcome: 'infra', attempt: 3 }));
  const all = await store.listUnfinished({ sweep: 's', from: 0, to: 100, limit: 100 });
  assert.deepEqual(all, [
    { position: 0, taskId: 'a', sample: 0, attempt: 1 },
    { position: 2, taskId: 'b', sample: 0, attempt: 4 },
    { position: 3, taskId: 'b', sample: 1, attempt: 1 },
    { position: 4, taskId: 'c', sample: 0, attempt: 1 },
    { position: 5, taskId: 'c', sample: 1, attempt: 1 },
  ]);
  assert.deepEqual(await store.listUnfinished({ sweep: 's', from: 1, to: 4, limit: 100 }), all.slice(1, 3));
  assert.deepEqual(await store.listUnfinished({ sweep: 's', from: 0, to: 6, limit: 2 }), all.slice(0, 2));
  assert.deepEqual(await store.listUnfinished({ sweep: 's', from: 6, to: 9, limit: 2 }), []);
  await assert.rejects(store.listUnfinished({ sweep: 'none', from: 0, to: 1, limit: 1 }), StoreError);
});

test('ranges of any size cover a large plan once each, in order', async (t) => {
  const store = await freshStore(t);
  const tasks = Array.from({ length: 1500 }, (_, i) => `t${i}`);
  await store.createSweep(sweep({ tasks, samples: 3 }));
  for (const size of [4500, 1999, 700]) {
    const positions: number[] = [];
    for (let from = 0; from < 4500; from += size) {
      const runs = await store.listUnfinished({ sweep: 's', from, to: from + size, limit: 10_000 });
      positions.push(...runs.map((run) => run.position));
      assert.ok(
        runs.every((run) => run.taskId === `t${Math.floor(run.position / 3)}` && run.sample === run.position % 3),
      );
    }
    assert.deepEqual(positions, [...Array(4500).keys()]);
  }
});

test('outcomes stream in planned order across pages, with their trails', async (t) => {
  const store = await freshStore(t);
  const tasks = Array.from({ length: 130 }, (_, i) => `z${(i * 37) % 130}`);
  await store.createSweep(sweep({ tasks, samples: 2 }));
  const expected: string[] = [];
  for (const [i, task] of tasks.entries()) {
    for (const sample of [1, 0]) {
      if ((i + sample) % 5 === 0) continue;
      const row = outcome({ task, sample, outcome: 'wrong' });
      row.trail = [
        {
          step: 'generated',
          progression: 0,
          round: 0,
          code: `# ${i}`,
          accepted: null,
          graded: { verdict: 'wrong', tests: 3, passed: 1 },
        },
      ];
      row.submission = 0;
      row.fingerprint = { python: '3.11', numpy: '1', runnerSha256: 'r', imageId: 'i' };
      await store.recordOutcome(row);
    }
    for (const sample of [0, 1]) if ((i + sample) % 5 !== 0) expected.push(`${task}#${sample}`);
  }
  const seen: OutcomeRow[] = [];
  for await (const row of store.outcomes('s')) seen.push(row);
  assert.deepEqual(
    seen.map((row) => `${row.run.taskId}#${row.run.sample}`),
    expected,
  );
  assert.deepEqual(seen[0]?.trail[0]?.graded, { verdict: 'wrong', tests: 3, passed: 1 });
  assert.equal(seen[0]?.fingerprint?.python, '3.11');
});

test('a reply is stored once: the first writer wins', async (t) => {
  const store = await freshStore(t);
  assert.equal(await store.getReply('k'), undefined);
  await store.putReply('k', request, reply({ text: 'first' }));
  await store.putReply('k', request, reply({ text: 'second' }));
  assert.equal((await store.getReply('k'))?.text, 'first');
  assert.deepEqual(await store.getExchange('k'), { request, reply: reply({ text: 'first' }) });
});

test('hostile text survives exactly: lone surrogates, NUL, escapes, 10 MB', async (t) => {
  const store = await freshStore(t);
  const texts = [
    '\ud800',
    'a\0b',
    '\x1b[2J\x07',
    '\u2028\u2029\u0085',
    '\udc00\ud800',
    '\uffff',
    '',
    'x'.repeat(10_000_000),
  ];
  for (const [i, text] of texts.entries()) {
    await store.putReply(`k${i}`, request, reply({ text, reasoning: text }));
    const back = await store.getReply(`k${i}`);
    assert.ok(back?.text === text && back.reasoning === text, `text ${i}`);
  }
  await store.createSweep(sweep({ tasks: ['a'] }));
  await store.recordStep(step({ step: 'x', result: 'a\0\ud800' }));
  assert.equal((await store.steps({ sweep: 's', taskId: 'a', sample: 0 }))[0]?.result, 'a\0\ud800');
  await store.recordOutcome(outcome({ task: 'a', outcome: 'infra', detail: '\ud800\0' }));
  assert.equal((await store.getOutcome({ sweep: 's', taskId: 'a', sample: 0 }))?.detail, '\ud800\0');
});

test('any task id finds what was stored under it', async (t) => {
  const store = await freshStore(t);
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('\ud800', '\0', ' ', '..', '/'),
      async (id, tail) => {
        const name = `s${round++}`;
        await store.createSweep(sweep({ name, tasks: [id + tail] }));
        assert.equal(await store.recordOutcome(outcome({ sweep: name, task: id + tail, outcome: 'pass' })), true);
        assert.equal((await store.getOutcome({ sweep: name, taskId: id + tail, sample: 0 }))?.outcome, 'pass');
        assert.deepEqual(await store.listUnfinished({ sweep: name, from: 0, to: 9, limit: 9 }), []);
      },
    ),
    { numRuns: 40 },
  );
});

test('keys are made storable everywhere: lone surrogates and NUL become U+FFFD, the rest stays', () => {
  assert.equal(keyText('a\0\ud800/.. \u2028😀'), 'a\ufffd\ufffd/.. \u2028😀');
});

test('usage counts each distinct reply once, and who sent it', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: ['a', 'b'] }));
  await store.putReply('k1', request, reply());
  await store.putReply('k2', request, reply({ usage: { prompt: 100, completion: 50 } }));
  await store.putReply('k3', request, reply({ usage: null }));
  await store.recordStep(step({ step: 'generate/0', replyKey: 'k1' }));
  await store.recordStep(step({ step: 'check/0', activity: 'imagineExecution', replyKey: 'k2' }));
  await store.recordStep(step({ step: 'check/0', activity: 'imagineExecution', replyKey: 'k3' }));
  await store.recordStep(step({ step: 'run', activity: 'runPrograms' }));
  const run = { sweep: 's', taskId: 'a', sample: 0, attempt: 1 };
  assert.deepEqual(await store.missingSteps(run, ['generate/0', 'judge/0', 'run']), ['judge/0']);
  assert.deepEqual(await store.missingSteps({ ...run, attempt: 2 }, ['run']), ['run']);
  await store.recordStep(
    step({ run: { sweep: 's', taskId: 'b', sample: 0, attempt: 1 }, step: 'generate/0', replyKey: 'k1', reused: true }),
  );
  assert.deepEqual(await store.usage({ sweep: 's' }), {
    sent: 3,
    reused: 1,
    prompt: 107,
    completion: 53,
    unmetered: 1,
    paid: { replies: 3, prompt: 107, completion: 53 },
    byActivity: {
      generateProgram: {
        requests: 1,
        prompt: 7,
        completion: 3,
        paid: { replies: 1, prompt: 7, completion: 3 },
      },
      imagineExecution: {
        requests: 2,
        prompt: 100,
        completion: 50,
        paid: { replies: 2, prompt: 100, completion: 50 },
      },
    },
  });
  await store.createSweep(sweep({ name: 'later', tasks: ['a'] }));
  const later = { sweep: 'later', taskId: 'a', sample: 0, attempt: 1 };
  await store.putReply('k4', request, reply({ usage: { prompt: 1, completion: 2 } }));
  await store.recordStep(step({ run: later, step: 'generate/0', replyKey: 'k1', reused: true }));
  await store.recordStep(step({ run: later, step: 'generate/1', replyKey: 'k4' }));
  const { paid, ...all } = await store.usage({ sweep: 'later' });
  assert.deepEqual(
    [paid, all.prompt, all.completion],
    [{ replies: 1, prompt: 1, completion: 2 }, 8, 5],
    'what another sweep has paid for is not paid here',
  );
  assert.deepEqual(all.byActivity.generateProgram?.paid, paid);
  assert.equal(await store.countReplies(['k1', 'k4', 'none', ...Array.from({ length: 3000 }, (_, i) => `x${i}`)]), 2);
  assert.equal(await store.countReplies([]), 0);
  const b = await store.usage({ sweep: 's', taskId: 'b', sample: 0 });
  assert.deepEqual([b.sent, b.reused, b.prompt], [0, 1, 7]);
  const none = await store.usage({ sweep: 'none' });
  assert.deepEqual([none.sent, none.reused, none.prompt, none.byActivity], [0, 0, 0, {}]);
});

test('an activity killed between storing its reply and recording its step has still sent it once', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: ['a'] }));
  await store.putReply('k1', request, reply());
  // The retry finds the reply in the store and so calls it reused; a replay and a second attempt follow.
  await store.recordStep(step({ step: 'generate/0', replyKey: 'k1', reused: true }));
  await store.recordStep(step({ step: 'generate/0', replyKey: 'k1', reused: true, durationMs: 2 }));
  await store.recordStep(
    step({
      run: { sweep: 's', taskId: 'a', sample: 0, attempt: 2 },
      step: 'generate/0',
      replyKey: 'k1',
      reused: true,
    }),
  );
  const rows = await store.steps({ sweep: 's', taskId: 'a', sample: 0 });
  assert.deepEqual(
    rows.map((row) => [row.run.attempt, row.reused, row.durationMs]),
    [
      [1, false, 2],
      [2, true, 1],
    ],
  );
  const { sent, reused, prompt } = await store.usage({ sweep: 's' });
  assert.deepEqual({ sent, reused, prompt }, { sent: 1, reused: 1, prompt: 7 });
});

test('the same request sent twice side by side was sent twice, also after a replay', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: ['a'] }));
  await store.putReply('k1', request, reply());
  await store.recordStep(step({ step: 'check/0', replyKey: 'k1', reused: false }));
  await store.recordStep(step({ step: 'check/1', replyKey: 'k1', reused: false }));
  await store.recordStep(step({ step: 'check/1', replyKey: 'k1', reused: true }));
  const { sent, reused, prompt } = await store.usage({ sweep: 's' });
  assert.deepEqual({ sent, reused, prompt }, { sent: 2, reused: 0, prompt: 7 });
});

test('reopening keeps everything', async (t) => {
  const home = await temporaryHome(t);
  const first = await openStore({ home });
  await first.createSweep(sweep({ tasks: ['a'] }));
  await first.close();
  const second = await openStore({ home });
  assert.equal((await second.getSweep('s'))?.planned, 1);
  await second.close();
});

test('of equal questions asked at the same moment one has sent the request, whoever is recorded first', async (t) => {
  const store = await freshStore(t);
  await store.createSweep(sweep({ tasks: ['a'] }));
  const account = { sweep: 's', taskId: 'a', sample: 0, step: 'debug1/0', attempt: 'r/1/1' };
  const granted = await store.reserve({ account, requestKey: 'k1', bound: { tokens: 100, microUsd: 0 } });
  assert.ok(granted.kind === 'reserved');
  await store.putReply('k1', request, reply(), {
    reservation: granted.reservation,
    cost: { tokens: 7, microUsd: 0 },
  });
  await store.recordStep(step({ step: 'debug1/1', replyKey: 'k1', reused: true }));
  await store.recordStep(step({ step: 'debug1/0', replyKey: 'k1', reused: false }));
  const { sent, reused } = await store.usage({ sweep: 's' });
  assert.deepEqual({ sent, reused }, { sent: 1, reused: 1 });
});

test('a database of a newer version is refused in one sentence and left alone', async (t) => {
  const home = await temporaryHome(t);
  await (await openStore({ home })).close();
  const raw = new DatabaseSync(join(home, 'qualityflow.db'));
  raw.prepare('INSERT INTO kysely_migration VALUES (?, ?)').run('9999-future', new Date().toISOString());
  raw.close();
  await assert.rejects(
    openStore({ home }),
    (error) => error instanceof StoreError && error.kind === 'newer_schema' && error.remedy !== '',
  );
  const again = new DatabaseSync(join(home, 'qualityflow.db'));
  assert.equal(again.prepare('SELECT count(*) AS n FROM kysely_migration').get()?.n, knownMigrations.size + 1);
  again.close();
});

test('a file that is no database is refused and not overwritten', async (t) => {
  const home = await temporaryHome(t);
  const file = join(home, 'qualityflow.db');
  await writeFile(file, 'this is a letter, not a database '.repeat(100));
  await assert.rejects(
    openStore({ home }),
    (error) => error instanceof StoreError && error.kind === 'corrupt' && error.message.includes(file),
  );
  assert.match(await readFile(file, 'utf8'), /^this is a letter/);
});

test('an empty file is a damaged store, but for one that another process is just making', async (t) => {
  const home = await temporaryHome(t);
  const file = join(home, 'qualityflow.db');
  await writeFile(file, '');
  await assert.rejects(
    openStore({ home }),
    (error) => error instanceof StoreError && error.kind === 'corrupt' && /backup, or remove it/.test(error.remedy),
  );
  assert.equal(await readFile(file, 'utf8'), '');
  const opening = openStore({ home });
  const maker = new DatabaseSync(file);
  maker.exec('PRAGMA journal_mode = WAL');
  const store = await opening;
  assert.deepEqual(await store.listSweeps(), []);
  await store.close();
  maker.close();
});

test('a store whose file is another one by now, or gone, neither reads nor writes', async (t) => {
  const home = await temporaryHome(t);
  const file = join(home, 'qualityflow.db');
  const store = await openStore({ home });
  await store.createSweep(sweep({ tasks: ['a'] }));
  await store.requireSameFile();
  await rename(file, `${file}.old`);
  const is = (kind: string) => (error: unknown) =>
    error instanceof StoreError && error.kind === kind && /qualityflow down/.test(error.remedy);
  await assert.rejects(store.getSweep('s'), is('removed'));
  await writeFile(file, 'another');
  await assert.rejects(store.requireSameFile(), is('replaced'));
  await assert.rejects(store.getSweep('s'), is('replaced'));
  await assert.rejects(store.setSweepState('s', 'running'), is('replaced'));
  await assert.rejects(store.putReply('k', request, reply()), is('replaced'));
  await store.close();
});

test('a folder that cannot be made is refused with what to do', async (t) => {
  const home = await temporaryHome(t);
  await writeFile(join(home, 'file'), '');
  await assert.rejects(
    openStore({ home: join(home, 'file', 'deeper') }),
    (error) => error instanceof StoreError && error.kind === 'unavailable' && error.remedy.includes('QUALITYFLOW_HOME'),
  );
});
