import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openStore } from './open-store.ts';

/**
 * A writer process: opens the store in argv[1] as number argv[2], creates the sweep if it is first, then records replies, steps and outcomes for
 * the tasks t0 … t(argv[3]−1), printing a dot after each task. Every writer tries every task; the fence keeps one row each.
 */
const WRITER = `
const { openStore } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'open-store.ts')).href)});
const [home, number, count] = [process.argv[1], Number(process.argv[2]), Number(process.argv[3])];
if (process.argv[4] !== '') process.seteuid(Number(process.argv[4]));
const store = await openStore({ home });
const tasks = Array.from({ length: count }, (_, i) => 't' + i);
const model = { name: 'm', endpoint: 'e', api: 'chat', parameters: {}, extraBody: {}, maxTokens: {}, requestTimeoutMs: 1 };
const spec = { name: 's', benchmark: 'mini', strategy: { kind: 'zero-shot' }, model, samples: 1, seed: 0, concurrency: { problems: 1, requests: 1 }, budget: {}, maxWaitMs: 1 };
const created = await store.createSweep({ name: 's', spec, specHash: '', datasetSha256: '', scripted: true, endpointIdentity: '', tasks, planned: count });
let written = 0;
for (const taskId of tasks) {
  const run = { sweep: 's', taskId, sample: 0, attempt: 1 };
  const reply = { kind: 'ok', text: 'x'.repeat(20000), reasoning: '', finishReason: 'stop', usage: { prompt: 2, completion: 1 }, model: 'm', latencyMs: 1 };
  const prompt = { version: 'v', agent: 'a', messages: [], temperature: 0, maxTokens: 1 };
  await store.putReply('k' + taskId, { settings: model, prompt, seed: 0, sample: 0, retry: 0 }, reply);
  await store.recordStep({ run, step: 'g' + number, activity: 'generateProgram', replyKey: 'k' + taskId, reused: true, result: '', startedAt: '', durationMs: 1 });
  if (await store.recordOutcome({ run, outcome: 'pass', detail: String(number), finalStep: 'generated', tokens: 3, requests: 1, trail: [], submission: null, fingerprint: null, recordedAt: '' })) written++;
  process.stdout.write('.');
}
await store.close();
process.stdout.write(JSON.stringify({ created, written }));
`;

/** The last words of a writer that came to its end. */
interface WriterResult {
  created: 'created' | 'exists';
  written: number;
}

function startWriter(input: { home: string; number: number; count: number; uid?: number }) {
  const args = [input.home, String(input.number), String(input.count), String(input.uid ?? '')];
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const ended = new Promise<{ code: number | null; dots: number; result: WriterResult; errors: string }>((resolve) => {
    child.on('close', (code) => {
      const dots = out.lastIndexOf('.') + 1;
      const result: WriterResult = code === 0 ? JSON.parse(out.slice(dots)) : { created: 'exists', written: 0 };
      resolve({ code, dots, result, errors });
    });
  });
  return { child, ended, output: () => out };
}

async function temporaryHome(t: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'qf-processes-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  return home;
}

test('three processes that start at once on an empty folder share one schema and lose nothing', {
  timeout: 180_000,
}, async (t) => {
  const home = await temporaryHome(t);
  const writers = await Promise.all([0, 1, 2].map((number) => startWriter({ home, number, count: 150 }).ended));
  for (const writer of writers) assert.equal(writer.code, 0, writer.errors);
  const results = writers.map((writer) => writer.result);
  assert.deepEqual(results.map((r) => r.created).sort(), ['created', 'exists', 'exists']);
  assert.equal(
    results.reduce((sum, r) => sum + r.written, 0),
    150,
    'each outcome has exactly one writer',
  );
  const store = await openStore({ home });
  assert.deepEqual(await store.countOutcomes('s'), { pass: 150 });
  const { sent, reused, prompt } = await store.usage({ sweep: 's' });
  assert.deepEqual({ sent, reused, prompt }, { sent: 150, reused: 300, prompt: 300 });
  await store.close();
});

test('a process killed while it writes leaves a sound database with all it had confirmed', {
  timeout: 180_000,
}, async (t) => {
  const home = await temporaryHome(t);
  for (let round = 0; round < 4; round++) {
    const writer = startWriter({ home, number: round, count: 5000 });
    await new Promise<void>((resolve) => {
      writer.child.stdout.on('data', () => writer.output().length > 20 * (round + 1) && resolve());
      writer.child.on('close', () => resolve());
    });
    writer.child.kill('SIGKILL');
    const { dots, errors } = await writer.ended;
    assert.ok(dots > 0, errors);
    const store = await openStore({ home });
    const { pass = 0 } = await store.countOutcomes('s');
    assert.ok(pass >= dots, `${pass} outcomes for ${dots} confirmed`);
    assert.equal((await store.listUnfinished({ sweep: 's', from: 0, to: 5000, limit: 5000 })).length, 5000 - pass);
    await store.close();
    const raw = new DatabaseSync(join(home, 'qualityflow.db'));
    assert.deepEqual(
      raw
        .prepare('PRAGMA integrity_check')
        .all()
        .map((row) => row.integrity_check),
      ['ok'],
    );
    raw.close();
  }
});

test('waiting for another process does not stop the event loop', { timeout: 60_000 }, async (t) => {
  const home = await temporaryHome(t);
  const store = await openStore({ home });
  const holder = new DatabaseSync(join(home, 'qualityflow.db'));
  holder.exec('BEGIN IMMEDIATE');
  let longestMs = 0;
  let last = performance.now();
  const beat = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  }, 10);
  const release = setTimeout(() => holder.exec('ROLLBACK'), 3000);
  const startedAt = performance.now();
  await store.setSweepState('none', 'running');
  assert.ok(performance.now() - startedAt > 2000, 'it waited for the lock');
  assert.ok(longestMs < 1500, `the event loop stood still for ${longestMs} ms`);
  clearInterval(beat);
  clearTimeout(release);
  holder.close();
  await store.close();
});

const asRoot = process.getuid?.() === 0 ? false : 'needs root to become a user without rights';

test('a folder without write permission is refused in words', { skip: asRoot, timeout: 60_000 }, async (t) => {
  const home = await temporaryHome(t);
  await (await openStore({ home })).close();
  await chmod(home, 0o555);
  const { code, errors } = await startWriter({ home, number: 0, count: 1, uid: 65_534 }).ended;
  assert.notEqual(code, 0);
  assert.match(errors, /StoreError: The database .* cannot be opened for writing/);
});
