import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Arrivals } from './arrival-log.ts';
import { chooseFault, FaultPlan, type FaultPlanInput } from './faults.ts';
import { startScriptedModel } from './server.ts';

const body = (content: string, rest: object = { max_tokens: 400 }) =>
  JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content }], ...rest });

/** A model with this plan, closed at the end of the test. */
async function faulty(t: { after: (work: () => Promise<void>) => void }, faults: FaultPlanInput) {
  const model = await startScriptedModel({ faults });
  t.after(() => model.close());
  const ask = (text: string, signal: AbortSignal | null = null) =>
    fetch(`${model.url}/chat/completions`, { method: 'POST', body: text, signal });
  return { model, ask };
}

test('a rule takes its share of the bodies, the same ones at every time, others with another seed', () => {
  const bodies = Array.from({ length: 2000 }, (_, index) => body(`question ${index}`));
  const victims = (seed: number) => {
    const plan = FaultPlan.parse([{ kind: 'reset', share: 0.2, seed }]);
    return bodies.filter((one) => chooseFault(plan, { body: one, arrival: 1 }) !== undefined);
  };
  assert.ok(Math.abs(victims(1).length - 400) < 80, String(victims(1).length));
  assert.deepEqual(victims(1), victims(1));
  assert.notDeepEqual(victims(1), victims(2));
});

test('a failure ends after its arrivals, and a completion never depends on them', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 20 }),
      (text, first, arrival) => {
        const plan = FaultPlan.parse([{ kind: 'status', firstArrivals: first }, { kind: 'content-null' }]);
        const kind = chooseFault(plan, { body: body(text), arrival })?.kind;
        assert.equal(kind, arrival <= first ? 'status' : 'content-null');
      },
    ),
  );
  assert.throws(() => FaultPlan.parse([{ kind: 'content-null', firstArrivals: 1 }]), /every arrival/);
  assert.throws(() => FaultPlan.parse([{ kind: 'nonsense' }]));
  assert.throws(() => FaultPlan.parse([{ kind: 'status', share: 2 }]));
});

test('the first rule that applies wins, and rules for one text or parameter concern no other body', () => {
  const plan = FaultPlan.parse([
    { kind: 'refusal', matching: 'poison' },
    { kind: 'refuses-max-tokens' },
    { kind: 'refuses-max-completion-tokens' },
    { kind: 'slow' },
  ]);
  const kind = (text: string) => chooseFault(plan, { body: text, arrival: 1 })?.kind;
  assert.equal(kind(body('poison')), 'refusal');
  assert.equal(kind(body('x')), 'refuses-max-tokens');
  assert.equal(kind(body('x', { max_completion_tokens: 1 })), 'refuses-max-completion-tokens');
  assert.equal(kind(body('x', {})), 'slow');
});

test('a running server is switched by POST /faults, and refuses what is no plan', async (t) => {
  const { model, ask } = await faulty(t, []);
  const control = model.url.replace('/v1', '/faults');
  assert.equal((await ask(body('a'))).status, 200);
  const plan = [{ kind: 'status', status: 503, retryAfter: { as: 'ms', ms: 1500 } }];
  assert.equal((await fetch(control, { method: 'POST', body: JSON.stringify(plan) })).status, 200);
  const refused = await ask(body('a'));
  assert.deepEqual([refused.status, refused.headers.get('retry-after-ms')], [503, '1500']);
  for (const wrong of ['', '{}', '[{"kind":"none such"}]', '[{"kind":"status","colour":"red"}]'])
    assert.equal((await fetch(control, { method: 'POST', body: wrong })).status, 400, wrong);
  assert.partialDeepStrictEqual(await (await fetch(control)).json(), { faults: plan });
  model.setFaults([]);
  assert.equal((await ask(body('a'))).status, 200);
});

test('Retry-After comes in each form', async (t) => {
  const forms = ['seconds', 'date', 'ms'] as const;
  const { ask } = await faulty(
    t,
    forms.map((as) => ({ kind: 'status', status: 429, matching: `in ${as}`, retryAfter: { as, ms: 2500 } })),
  );
  const header = async (as: string, name: string) => (await ask(body(`in ${as}`))).headers.get(name);
  assert.equal(await header('seconds', 'retry-after'), '3');
  assert.equal(await header('ms', 'retry-after-ms'), '2500');
  const date = (await header('date', 'retry-after')) ?? '';
  assert.match(date, /^[A-Z][a-z]{2}, \d\d .* GMT$/);
  assert.ok(Date.parse(date) - Date.now() > 2000 && Date.parse(date) - Date.now() < 4000, date);
});

test('the log tells arrivals, whole completions, refusals and what is open, by body', async (t) => {
  const { model, ask } = await faulty(t, [
    { kind: 'status', status: 503, matching: 'flaky', firstArrivals: 2 },
    { kind: 'hang', matching: 'silent' },
    { kind: 'cut', matching: 'torn' },
    { kind: 'reset', matching: 'gone' },
  ]);
  const before = Date.now();
  for (let arrival = 0; arrival < 3; arrival += 1) await (await ask(body('flaky'))).text();
  await assert.rejects(async () => (await ask(body('torn'))).text());
  await assert.rejects(ask(body('gone')));
  const controller = new AbortController();
  const silent = assert.rejects(ask(body('silent'), controller.signal));
  while (model.log().open === 0) await new Promise((wake) => setTimeout(wake, 5));
  assert.equal(model.log().open, 1);
  controller.abort();
  await silent;
  while (model.log().open > 0) await new Promise((wake) => setTimeout(wake, 5));

  const log: Arrivals = model.log();
  const of = (content: string) => log.bodies[createHash('sha256').update(body(content)).digest('hex')];
  const flaky = of('flaky');
  assert.ok(flaky);
  assert.deepEqual(
    [flaky.arrivals.length, flaky.refused.length, flaky.completed.length, flaky.faults],
    [3, 2, 1, ['status', 'status']],
  );
  assert.ok(flaky.arrivals.every((at) => at >= before && at <= (flaky.completed[0] ?? 0)));
  for (const one of ['torn', 'gone', 'silent'])
    assert.deepEqual([of(one)?.arrivals.length, of(one)?.completed, of(one)?.refused], [1, [], []], one);
  assert.equal(log.total, 6);
});

test('plain completions have the same faults', async (t) => {
  const model = await startScriptedModel({
    faults: [{ kind: 'truncated' }],
  });
  t.after(() => model.close());
  const response = await fetch(`${model.url}/completions`, {
    method: 'POST',
    body: JSON.stringify({ prompt: 'def running_means(values):\n', max_tokens: 100 }),
  });
  assert.partialDeepStrictEqual(await response.json(), { choices: [{ finish_reason: 'length' }] });
});

test('as a process it takes its plan as JSON', async () => {
  const plan = JSON.stringify([{ kind: 'status', status: 418 }]);
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'main.ts'), '--faults', plan], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(child.stdout, 'data');
    const response = await fetch(`${String(line).trim()}/chat/completions`, { method: 'POST', body: body('x') });
    assert.equal(response.status, 418);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});
