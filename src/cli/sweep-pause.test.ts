import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';
import { main } from './main.ts';

const home = mkdtempSync(join(tmpdir(), 'qualityflow-pause-'));
let store: Store;
before(async () => {
  store = await openStore({ home });
});
after(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

class Captured extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function run(...argv: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const stdout = new Captured();
  const stderr = new Captured();
  const context: Context = {
    stdout,
    stderr,
    interactive: false,
    env: { PATH: process.env.PATH },
    cwd: home,
    home,
    onInterrupt: () => () => {},
  };
  const exitCode = await main(argv, context);
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

async function sweepNamed(name: string): Promise<void> {
  await store.createSweep({
    name,
    spec: {
      name,
      benchmark: 'mini',
      strategy: { kind: 'zero-shot' },
      model: {
        endpoint: 'scripted',
        name: 'm',
        api: 'chat',
        parameters: {},
        extraBody: {},
        maxTokens: {},
        requestTimeoutMs: 1000,
      },
      samples: 2,
      seed: 0,
      concurrency: { problems: 3, requests: 2 },
      budget: {},
      maxWaitMs: 1000,
    },
    specHash: 'one',
    datasetSha256: '',
    scripted: true,
    endpointIdentity: 'scripted',
    tasks: ['a', 'b'],
    planned: 4,
  });
}

test('pause and unpause are words in the store, and say what they did, also without any server', async () => {
  await sweepNamed('p');
  await store.setSweepState('p', 'running');
  assert.match((await run('sweep', 'pause', 'p')).stdout, /^Paused p\. .*sweep unpause p/);
  assert.equal((await store.getPlan('p'))?.state, 'paused');
  assert.match((await run('sweep', 'pause', 'p')).stdout, /paused already/);
  const status = await run('sweep', 'status', 'p');
  assert.match(status.stdout, /paused by a person: `qualityflow sweep unpause p` goes on/);
  const unpaused = await run('sweep', 'unpause', 'p');
  assert.equal(unpaused.exitCode, 0);
  assert.match(unpaused.stdout, /nothing runs here: `qualityflow sweep resume p`/);
  assert.equal((await store.getPlan('p'))?.state, 'running');
});

test('a sweep that has ended is not paused, nor does an unpause start it', async () => {
  await sweepNamed('done');
  await store.setSweepState('done', 'completed');
  for (const word of ['pause', 'unpause']) {
    const { exitCode, stdout, stderr } = await run('sweep', word, 'done', '--json');
    assert.deepEqual([exitCode, stdout], [2, ''], word);
    assert.match(stderr, /done is not running: it is completed\.\n.*sweep resume done/);
  }
  assert.equal((await store.getPlan('done'))?.state, 'completed');
});

test('a cancel may be said again and again, and is no failure of a sweep that has ended', async () => {
  await sweepNamed('off');
  for (const state of ['completed', 'cancelled'] as const) {
    await store.setSweepState('off', state);
    const { exitCode, stdout, stderr } = await run('sweep', 'cancel', 'off');
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, state === 'completed' ? /ended already: it is completed/ : /cancelled already/);
  }
  // It is in Temporal's database, and would go on with the server.
  await store.setSweepState('off', 'paused');
  const { exitCode, stderr } = await run('sweep', 'cancel', 'off');
  assert.equal(exitCode, 3);
  assert.match(stderr, /goes on with the next start unless it was cancelled before\.\n.*qualityflow dev/);
  assert.equal((await store.getPlan('off'))?.state, 'paused');
});

test('a sweep whose budget ended it is unfinished, and its status says how it goes on', async () => {
  await sweepNamed('short');
  await store.updateOperational('short', { budget: { tokens: 100 } });
  await store.setSweepState('short', 'completed');
  assert.match((await run('sweep', 'status', 'short')).stderr, /`qualityflow sweep resume short` goes on/);
  await store.recordOutcome({
    run: { sweep: 'short', taskId: 'a', sample: 0, attempt: 1 },
    outcome: 'budget_exhausted',
    detail: '',
    finalStep: '',
    tokens: 0,
    requests: 0,
    trail: [],
    submission: null,
    fingerprint: null,
    recordedAt: new Date(0).toISOString(),
  });
  const { stdout, stderr } = await run('sweep', 'status', 'short');
  assert.match(stdout, /^short {2}unfinished/);
  assert.match(stderr, /`qualityflow sweep resume short --budget-tokens N` goes on/);
  const { state, unfinished } = JSON.parse((await run('sweep', 'status', 'short', '--json')).stdout);
  assert.deepEqual({ state, unfinished }, { state: 'completed', unfinished: 4 });
  assert.match((await run('sweep', 'list')).stdout, /short.*unfinished/);
});

test('a resume of a sweep whose every run is final starts nothing, and says so for a workflow that could not', async () => {
  await sweepNamed('whole');
  await store.setSweepState('whole', 'running');
  for (const taskId of ['a', 'b'])
    for (const sample of [0, 1])
      await store.recordOutcome({
        run: { sweep: 'whole', taskId, sample, attempt: 1 },
        outcome: 'wrong',
        detail: '',
        finalStep: 'generated',
        tokens: 1,
        requests: 1,
        trail: [],
        submission: null,
        fingerprint: null,
        recordedAt: new Date(0).toISOString(),
      });
  const { exitCode, stderr } = await run('sweep', 'resume', 'whole');
  assert.equal(exitCode, 0, stderr);
  assert.match(stderr, /The sweep whole is complete: all 4 runs have a final outcome\./);
  assert.equal((await store.getPlan('whole'))?.state, 'completed');
  assert.equal(existsSync(join(home, 'dev.json')), false);

  const capped = await run('sweep', 'resume', 'whole', '--budget-tokens', '1000');
  assert.equal(capped.exitCode, 0, capped.stderr);
  assert.equal((await store.spent('whole')).cap.tokens, 1000);
  assert.equal((await store.getPlan('whole'))?.spec.budget.tokens, 1000);
});

test('an unpause does not end a block: it says the reason and what does, exit 3', async () => {
  await sweepNamed('b');
  await store.setSweepState('b', 'blocked', { reason: 'HTTP 401: bad key' });
  const { exitCode, stderr } = await run('sweep', 'unpause', 'b');
  assert.equal(exitCode, 3);
  assert.match(stderr, /blocked: HTTP 401: bad key\.\n.*sweep resume b/);
  assert.equal((await store.getPlan('b'))?.state, 'blocked');
  assert.match((await run('sweep', 'status', 'b')).stdout, /blocked: HTTP 401: bad key/);
});

for (const [what, argv, message] of [
  ['retry: unknown task', ['sweep', 'retry', 'q', 'c'], /no task "c"/],
  ['retry: unknown sample', ['sweep', 'retry', 'q', 'a', '--sample', '2'], /Its samples are 0 to 1/],
  ['retry: a final outcome without --force', ['sweep', 'retry', 'q', 'a'], /has the final outcome wrong\.\n.*--force/],
  ['retry: a paused sweep', ['sweep', 'retry', 'held', 'a'], /is paused\.\n.*sweep unpause held/],
  ['retry: a blocked sweep', ['sweep', 'retry', 'stuck', 'a'], /is blocked: HTTP 401\.\n.*sweep resume stuck/],
  ['retry: no number of a sample', ['sweep', 'retry', 'q', 'a', '--sample=-1'], /Its samples are 0 to 1/],
  ['extend: by nothing', ['sweep', 'extend', 'q'], /Give --samples, --limit or --task/],
  ['extend: by a budget alone', ['sweep', 'extend', 'q', '--budget-tokens', '9'], /Give --samples, --limit or --task/],
  ['extend: money without prices', ['sweep', 'extend', 'q', '--samples', '3', '--budget-usd', '9'], /needs prices/],
  [
    'extend: by samples and tests at once',
    ['sweep', 'extend', 'q', '--samples', '3', '--benchmark', 'x.jsonl'],
    /cannot be combined/,
  ],
  ['extend: a fork in place', ['sweep', 'extend', 'q', '--samples', '3', '--fork', 'r'], /Leave out --fork/],
  ['extend: to the benchmark it is on', ['sweep', 'extend', 'q', '--benchmark', 'mini'], /is on mini already/],
  ['extend: to no benchmark', ['sweep', 'extend', 'q', '--benchmark', 'minni'], /did you mean "mini"/],
  ['resume: a fork to itself', ['sweep', 'resume', 'q', '--fork', 'q'], /the very sweep/],
  ['resume: a fork to no name', ['sweep', 'resume', 'q', '--fork', 'Q'], /is no name of a sweep/],
  ['extend: by a word', ['sweep', 'extend', 'q', '--samples', 'ten'], /"ten" is no whole number from 1/],
] as const) {
  test(`refused before anything starts: ${what}`, async () => {
    if ((await store.getPlan('q')) === undefined) {
      await sweepNamed('q');
      await sweepNamed('held');
      await store.setSweepState('held', 'paused');
      await sweepNamed('stuck');
      await store.setSweepState('stuck', 'blocked', { reason: 'HTTP 401' });
      await store.recordOutcome({
        run: { sweep: 'q', taskId: 'a', sample: 0, attempt: 1 },
        outcome: 'wrong',
        detail: '',
        finalStep: 'generated',
        tokens: 1,
        requests: 1,
        trail: [],
        submission: null,
        fingerprint: null,
        recordedAt: new Date(0).toISOString(),
      });
    }
    const { exitCode, stderr, stdout } = await run(...argv);
    assert.equal(exitCode, 2, stderr);
    assert.match(stderr, message);
    assert.equal(stdout, '');
  });
}
