import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { renderProblem } from './render-story.ts';
import { readStepResult } from './step-result.ts';
import { buildProblemStory } from './story.ts';

const run = { sweep: 's', taskId: 'a', sample: 0, attempt: 1 };
const LONG = Array.from({ length: 500 }, (_, i) => `line ${i}`).join('\n');

async function recordedStore(t: TestContext): Promise<Store> {
  const home = await mkdtemp(join(tmpdir(), 'qf-story-'));
  const store = await openStore({ home });
  t.after(async () => {
    await store.close();
    await rm(home, { recursive: true, force: true });
  });
  const model = {
    name: 'm',
    endpoint: 'default',
    api: 'chat' as const,
    parameters: {},
    extraBody: {},
    maxTokens: {},
    requestTimeoutMs: 1,
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
      maxWaitMs: 1000,
    },
    specHash: '',
    datasetSha256: '',
    scripted: true,
    endpointIdentity: 'scripted',
    tasks: ['a'],
    planned: 1,
  });
  const exchange = async (key: string, agent: string, text: string) =>
    store.putReply(
      key,
      {
        settings: model,
        prompt: {
          version: `${agent}@1`,
          agent,
          messages: [
            { role: 'system', content: 'You are a Python programmer.' },
            { role: 'user', content: `ask ${key}` },
          ],
          temperature: 0,
          maxTokens: 5,
        },
        seed: 0,
        sample: 0,
        retry: 0,
      },
      {
        kind: 'ok',
        text,
        reasoning: '',
        finishReason: 'stop',
        usage: { prompt: 11, completion: 22 },
        model: 'm',
        latencyMs: 1234,
      },
    );
  await exchange('k0', 'generator', `\x1b[2J${LONG}`);
  await exchange('k1', 'imaginedExecution', 'x'.repeat(10_000_000));
  const step = { run, reused: false, durationMs: 5 };
  await store.recordStep({
    ...step,
    step: 'generate/0',
    activity: 'generateProgram',
    replyKey: 'k0',
    startedAt: '2026-01-01T00:00:01Z',
    result: JSON.stringify({
      kind: 'program',
      code: 'def f():\n    return "\x1b[31m"',
      rule: 'fence-with-entry-point',
    }),
  });
  await store.recordStep({
    ...step,
    step: 'check/generate/0/test/0',
    activity: 'imagineExecution',
    replyKey: 'k1',
    startedAt: '2026-01-01T00:00:02Z',
    result: JSON.stringify({ kind: 'prediction', prediction: '4', comparison: '__x == 4' }),
  });
  await store.recordStep({
    ...step,
    step: 'check/generate/0',
    activity: 'comparePredictions',
    startedAt: '2026-01-01T00:00:03Z',
    result: '[true,false]',
  });
  // Side by side with the first check, recorded late and in no order of names.
  for (const name of ['again', 'trace']
    .map((last) => `check/generate/0/test/0/${last}`)
    .concat('check/generate/0/test/10')) {
    await store.recordStep({
      ...step,
      step: name,
      activity: 'imagineExecution',
      startedAt: '2026-01-01T00:00:03Z',
      result: 'null',
    });
  }
  await store.recordOutcome({
    run,
    outcome: 'wrong',
    detail: 'f(2) gave 5',
    finalStep: 'reverted',
    tokens: 66,
    requests: 2,
    trail: [
      {
        step: 'generated',
        progression: 0,
        round: 0,
        code: 'def f(): …',
        accepted: false,
        graded: {
          verdict: 'wrong',
          tests: 3,
          passed: 1,
          firstFailure: { status: 'fail', test: 'assert f(2) == 4', actual: '5', expected: '4' },
        },
      },
    ],
    submission: 0,
    fingerprint: null,
    recordedAt: '',
  });
  return store;
}

test('the story of a problem has every step with prompt, reply, code, rule, verdict and cost', async (t) => {
  const store = await recordedStore(t);
  const story = await buildProblemStory({ store, sweep: 's', taskId: 'a', sample: 0 });
  assert.deepEqual(
    story.groups.map((group) => [group.stage, group.steps.length]),
    [
      ['generate', 1],
      ['check', 5],
    ],
  );
  assert.deepEqual(
    story.groups[1]?.steps.map((step) => step.step),
    [
      'check/generate/0/test/0/trace',
      'check/generate/0/test/0',
      'check/generate/0/test/0/again',
      'check/generate/0/test/10',
      'check/generate/0',
    ],
  );
  const text = renderProblem(story, { color: false, width: 100, full: false });
  for (const part of [
    'ask k0',
    'line 0',
    'line 499',
    'lines more: --full',
    'characters more: --full',
    'by rule fence-with-entry-point',
    'return "\\x1b[31m"',
    'predicted 4',
    '1 of 2 predictions hold',
    '11 + 22 tokens',
    'wrong 1/3',
    '◀ submitted',
    'assert f(2) == 4',
    'got 5',
    'scripted model',
    '22 + 44 tokens · 2 requests sent, 0 reused',
  ]) {
    assert.ok(text.includes(part), `missing: ${part}`);
  }
  assert.ok(text.length < 10_000, 'long texts are bounded');
  assert.equal(stripVTControlCharacters(text), text, 'nothing of the model reaches the terminal as a command');
  const coloured = renderProblem(story, { color: true, width: 100, full: false });
  assert.equal(stripVTControlCharacters(coloured), text);
  assert.match(text, /^Outcome {2}[a-z_]+ {2}ended at/m, 'without a count');
  const full = renderProblem(story, { color: false, width: 100, full: true });
  assert.ok(full.includes('line 250') && full.includes('You are a Python programmer.') && full.length > 10_000_000);
});

test('a long story is told in short where that is wanted, and says how to see the rest', async (t) => {
  const store = await recordedStore(t);
  const story = await buildProblemStory({ store, sweep: 's', taskId: 'a', sample: 0 });
  const options = { color: false, width: 80, full: false };
  const [step] = story.groups[1]?.steps ?? [];
  assert.ok(step !== undefined);
  const many = Array.from({ length: 400 }, (_, i) => ({ ...step, step: `check/${i}` }));
  const long = { ...story, groups: [{ stage: 'check', attempt: 1, steps: many }, ...story.groups] };
  const text = renderProblem(long, { ...options, brief: true });
  const lines = text.split('\n');
  assert.ok(lines.length < 60, text);
  assert.ok(
    lines.slice(0, -2).every((line) => line.length <= 80),
    text,
  );
  assert.match(text, /● check\/0 .*\n● check\/1 [^]*┆ … \d{3} steps more\n● check\/399 /);
  assert.match(text, /^Outcome /m);
  assert.match(text, /Shown in short, as all of it takes [\d,]+ lines: --steps shows every step, --full/);
  assert.equal(
    renderProblem(long, { ...options, brief: true, full: true }),
    renderProblem(long, { ...options, full: true }),
  );
  const short = { ...story, groups: story.groups.slice(0, 1) };
  assert.equal(renderProblem(short, { ...options, brief: true }), renderProblem(short, options));
});

test('a run without steps or outcome can be shown; one outside of the plan is refused', async (t) => {
  const store = await recordedStore(t);
  await assert.rejects(buildProblemStory({ store, sweep: 's', taskId: 'zzz', sample: 0 }), StoreError);
  await assert.rejects(buildProblemStory({ store, sweep: 's', taskId: 'a', sample: 1 }), StoreError);
  await assert.rejects(buildProblemStory({ store, sweep: 'x', taskId: 'a', sample: 0 }), StoreError);
  const story = await buildProblemStory({ store, sweep: 's', taskId: 'a', sample: 0 });
  const text = renderProblem({ ...story, groups: [], outcome: null }, { color: false, width: 80, full: false });
  assert.match(text, /No step of this problem/u);
  assert.match(text, /no outcome yet/u);
});

test('results of every activity are read, and what is cut or unknown is shown as it is', () => {
  for (const [value, summary] of [
    [{ kind: 'judgement', accept: true }, 'accepted'],
    [{ kind: 'judgement', accept: false }, 'rejected'],
    [{ kind: 'tests', tests: [{ kind: 'assert', source: 'assert f(1)' }] }, '1 test'],
    [{ kind: 'clarification', statement: 'do it' }, 'clarified statement'],
    [{ kind: 'unusable', reason: 'no_code', detail: 'd' }, 'unusable: no_code'],
    [{ kind: 'pool', matrix: [[1], [0]], tests: ['assert f(1)'], leftOut: 2 }, '2 programs on 1 test, 2 left out'],
    [
      { kind: 'ranking', method: 'codet', prefilter: 'static', order: [3, 1], scores: [1.5, null] },
      'ranked by codet after the static prefilter: program 3 first',
    ],
    [{ kind: 'paced', until: 'later' }, 'endpoint asked to wait until later'],
    [{ outcome: 'pass', detail: '' }, 'pass'],
    [
      [
        [
          { status: 'pass', test: 't' },
          { status: 'fail', test: 'u', actual: '1' },
        ],
      ],
      'tests passed: 1 of 2',
    ],
    [[], '0 of 0 predictions hold'],
    [7, '7'],
  ] as const) {
    assert.equal(readStepResult(JSON.stringify(value)).summary, summary);
  }
  assert.deepEqual(readStepResult('{"kind":"prog'), { summary: 'result (cut)', text: '{"kind":"prog' });
});
