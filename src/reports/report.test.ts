import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import type { Outcome, Step } from '../activities/contract.ts';
import type { Strategy } from '../spec/spec.ts';
import { openStore } from '../store/open-store.ts';
import type { OutcomeRow, Store, SweepRow } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { renderStatus, renderSweepList } from './render-lists.ts';
import { renderReport } from './render-report.ts';
import { buildReport } from './report.ts';
import { lastFive } from './trail.ts';

const QUALITY_FLOW: Strategy = {
  kind: 'quality-flow',
  checker: 'imagined',
  diversified: 2,
  tests: { queries: 5, perQuery: 10, shared: true },
  tqc: true,
  debugEpochs: 3,
  carryForward: false,
  clarifier: true,
  clarifierAttempts: 1,
  revert: true,
  checkerSeesProblem: false,
};

async function freshStore(t: TestContext): Promise<Store> {
  const home = await mkdtemp(join(tmpdir(), 'qf-report-'));
  const store = await openStore({ home });
  t.after(async () => {
    await store.close();
    await rm(home, { recursive: true, force: true });
  });
  return store;
}

async function startSweep(
  store: Store,
  input: { tasks: number | string[]; samples?: number; strategy?: Strategy; scripted?: boolean },
): Promise<SweepRow> {
  const tasks = typeof input.tasks === 'number' ? Array.from({ length: input.tasks }, (_, i) => `t${i}`) : input.tasks;
  const samples = input.samples ?? 1;
  await store.createSweep({
    name: 's',
    spec: {
      name: 's',
      benchmark: 'mbpp',
      strategy: input.strategy ?? QUALITY_FLOW,
      model: {
        name: 'm',
        endpoint: 'default',
        api: 'chat',
        parameters: {},
        extraBody: {},
        maxTokens: {},
        requestTimeoutMs: 1,
      },
      samples,
      seed: 0,
      concurrency: { problems: 1, requests: 1 },
      budget: {},
      maxWaitMs: 1000,
    },
    specHash: 'spec',
    datasetSha256: 'd'.repeat(64),
    scripted: input.scripted ?? false,
    endpointIdentity: 'http://localhost/v1',
    tasks,
    planned: tasks.length * samples,
  });
  const sweep = await store.getSweep('s');
  assert.ok(sweep);
  return sweep;
}

function program(
  step: Step,
  progression: number,
  accepted: boolean | null,
  right: boolean,
): OutcomeRow['trail'][number] {
  const graded = right
    ? ({ verdict: 'pass', tests: 3, passed: 3 } as const)
    : ({ verdict: 'wrong', tests: 3, passed: 1 } as const);
  return { step, progression, round: 0, code: `${step} ${progression}`, accepted, graded };
}

function row(input: Partial<OutcomeRow> & { outcome: Outcome; task: string; sample?: number }): OutcomeRow {
  const { task, sample = 0, ...rest } = input;
  return {
    run: { sweep: 's', taskId: task, sample, attempt: 1 },
    detail: '',
    finalStep: 'generated',
    tokens: 0,
    requests: 0,
    trail: [],
    submission: null,
    fingerprint: null,
    recordedAt: '2026-01-01T00:00:00.000Z',
    ...rest,
  };
}

/** TP, FP, FN, TN. */
type Matrix = readonly [number, number, number, number];

interface Published {
  name: string;
  /** zero-shot, generation, self-debugging, clarifier, final. */
  matrices: readonly [Matrix, Matrix, Matrix, Matrix, Matrix];
  /** Accuracy, precision, recall and accepted in percent, as printed. */
  printed: readonly (readonly [number, number, number, number])[];
  /** Right by step, the counts behind the row of Table 1. */
  right: readonly number[];
}

/** QualityFlow (arXiv 2501.17167), Table 4 and Table 1, MBPP in the standard setting. */
const PUBLISHED: Published[] = [
  {
    name: 'Sonnet',
    matrices: [
      [375, 4, 30, 91],
      [414, 5, 18, 63],
      [459, 8, 9, 24],
      [463, 11, 5, 21],
      [463, 11, 8, 18],
    ],
    printed: [
      [93.2, 98.94, 92.59, 75.8],
      [95.4, 98.81, 95.83, 83.8],
      [96.6, 98.29, 98.08, 93.4],
      [96.8, 97.68, 98.93, 94.8],
      [96.2, 97.68, 98.3, 94.8],
    ],
    right: [405, 432, 468, 468, 471],
  },
  {
    name: 'Opus',
    matrices: [
      [321, 5, 59, 115],
      [375, 8, 29, 88],
      [419, 21, 4, 56],
      [428, 22, 3, 47],
      [428, 22, 7, 43],
    ],
    printed: [
      [87.2, 98.47, 84.47, 65.2],
      [92.6, 97.91, 92.82, 76.6],
      [95.0, 95.23, 99.05, 88.0],
      [95.0, 95.11, 99.3, 90.0],
      [94.2, 95.11, 98.39, 90.0],
    ],
    right: [380, 404, 423, 431, 435],
  },
];

/** Runs whose states at the five steps have exactly these matrices. */
function runsBehind([zero, generation, debug, clarifier, final]: Published['matrices']): OutcomeRow[] {
  const rows: OutcomeRow[] = [];
  const add = (trail: OutcomeRow['trail'], submission: number, finalStep: string) => {
    const outcome = trail[submission]?.graded.verdict === 'pass' ? 'pass' : 'wrong';
    rows.push(row({ task: `t${rows.length}`, outcome, trail, submission, finalStep }));
  };
  const times = (count: number, make: (i: number) => void) => {
    for (let i = 0; i < count; i++) make(i);
  };
  // How many right programs of prompt 0 the later stages lift over, so that the false negatives left are those published.
  let liftedByGeneration = zero[2] - generation[2];
  let liftedLater = generation[2] - final[2];
  const zeroRight = (stage: 'generation' | 'later') =>
    stage === 'generation' ? liftedByGeneration-- > 0 : liftedLater-- > 0;
  const accepted = (stage: (right: boolean, i: number) => void, before: Matrix, after: Matrix) => {
    times(after[0] - before[0], (i) => stage(true, i));
    times(after[1] - before[1], (i) => stage(false, i));
  };

  accepted((right) => add([program('generated', 0, true, right)], 0, 'generated'), [0, 0, 0, 0], zero);
  accepted(
    (right) =>
      add(
        [program('generated', 0, false, zeroRight('generation')), program('generated', 1, true, right)],
        1,
        'generated',
      ),
    zero,
    generation,
  );
  const debugSteps: Step[] = ['debug1', 'debug2', 'debug3'];
  accepted(
    (right, i) => {
      const step = debugSteps[i % 3] ?? 'debug3';
      add(
        [
          program('generated', 0, false, zeroRight('later')),
          program('debug1', 1, false, true),
          program(step, 0, true, right),
        ],
        2,
        step,
      );
    },
    generation,
    debug,
  );
  let debugRight = debug[2];
  const debugged = () => program('debug3', 0, false, debugRight-- > 0);
  accepted(
    (right) =>
      add(
        [program('generated', 0, false, zeroRight('later')), debugged(), program('clarified', 1, true, right)],
        2,
        'clarified',
      ),
    debug,
    clarifier,
  );
  times(final[2] + final[3], (i) =>
    add(
      [program('generated', 0, false, i < final[2]), debugged(), program('clarified', 0, false, i < clarifier[2])],
      0,
      'reverted',
    ),
  );
  return rows;
}

const round2 = (share: number | null) => (share === null ? null : Math.round(share * 10_000) / 100);

for (const published of PUBLISHED) {
  test(`Table 4 and Table 1, MBPP ${published.name}: matrices, rates and right by step`, async (t) => {
    const store = await freshStore(t);
    await startSweep(store, { tasks: 500 });
    for (const outcome of runsBehind(published.matrices)) await store.recordOutcome(outcome);
    const report = await buildReport({ store, sweep: 's' });
    const steps = ['zeroShot', 'generated', 'debug3', 'clarified', 'final'];
    const checker = steps.map((step) => report.checkerByStep.find((rates) => rates.step === step));
    assert.deepEqual(
      checker.map((rates) => rates && [rates.tp, rates.fp, rates.fn, rates.tn]),
      published.matrices,
    );
    assert.deepEqual(
      checker.map((rates) => rates && [rates.accuracy, rates.precision, rates.recall, rates.accepted].map(round2)),
      published.printed,
    );
    assert.deepEqual(
      steps.map((step) => report.steps.find((score) => score.step === step)?.passed),
      published.right,
    );
    assert.deepEqual(
      report.checker,
      Object.fromEntries(['tp', 'fp', 'fn', 'tn'].map((cell, i) => [cell, published.matrices[4][i]])),
    );
    assert.equal(
      report.steps.map((score) => score.step).join(),
      'zeroShot,generated,debug1,debug2,debug3,clarified,final',
    );
    assert.equal(report.outcomes.pass, published.right[4]);
    assert.equal(report.passAt[1]?.value, (published.right[4] ?? 0) / 500);
    if (published.name === 'Sonnet') {
      assert.deepEqual(report.funnel, {
        generated: { entered: 500, accepted: 419, right: 414 },
        debugged: { entered: 81, accepted: 48, right: 45 },
        clarified: { entered: 33, accepted: 7, right: 4 },
        reverted: { entered: 26, right: 8 },
        unaccepted: { entered: 0, right: 0 },
      });
    }
  });
}

test('an unfinished sweep: planned is the sum of the outcomes, the headline has its bounds', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 40 });
  for (let i = 0; i < 20; i++) {
    const right = i < 12;
    await store.recordOutcome(
      row({
        task: `t${i}`,
        outcome: right ? 'pass' : 'wrong',
        trail: [program('generated', 0, true, right)],
        detail: right ? '' : `1 of 3 ${'x'.repeat(300)}`,
        submission: 0,
      }),
    );
  }
  await store.recordOutcome(row({ task: 't20', outcome: 'infra', finalStep: '' }));
  await store.recordOutcome(row({ task: 't21', outcome: 'no_code', finalStep: 'nothing' }));
  await store.recordOutcome(row({ task: 't22', outcome: 'cancelled', finalStep: '' }));
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(report.outcomes, { pass: 12, wrong: 8, infra: 1, no_code: 1, cancelled: 1, not_run: 17 });
  assert.equal(
    Object.values(report.outcomes).reduce((a, b) => a + b),
    report.planned,
  );
  const rate = report.passAt[1];
  assert.ok(rate?.value && rate.interval95);
  assert.equal(rate.value, 12 / 21, 'of the final ones; no code is a failure');
  assert.deepEqual([rate.low, rate.high], [12 / 40, 31 / 40]);
  const headline = renderReport(report, { color: false, width: 80 });
  assert.match(
    headline,
    /^ {2}pass@1 .*57\.1 % {3}partial: 21 of 40 runs, \[30\.0 %, 77\.5 %\] if all open ones fail or pass$/mu,
  );
  assert.match(headline, /nothing graded yet/);
  assert.equal(report.tasks.filter(({ outcome }) => outcome === 'not_run').length, 17);
  assert.deepEqual(report.tasks[12], {
    task: 't12',
    sample: 0,
    outcome: 'wrong',
    step: 'generated',
    detail: `1 of 3 ${'x'.repeat(193)}`,
  });
  assert.equal(report.noHeadline, null);
  assert.deepEqual(report.checker, { tp: 12, fp: 8, fn: 0, tn: 0 });
  assert.deepEqual(report.steps.at(-1), { step: 'final', passed: 12, accepted: 20, share: 12 / 21 });
});

test('pass@k reaches the number of samples, with a word when they were all the same request', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 1, samples: 2, strategy: { kind: 'zero-shot' } });
  await store.recordOutcome(row({ task: 't0', sample: 0, outcome: 'no_code', finalStep: 'nothing' }));
  await store.recordOutcome(row({ task: 't0', sample: 1, outcome: 'no_code', finalStep: 'nothing' }));
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(Object.keys(report.passAt), ['1', '2']);
  assert.equal(report.greedy, true);
  const text = renderReport(report, { color: false, width: 100 });
  assert.match(text, /pass@2 .*\n(.*\n)* {2}All samples of a task asked the same greedy request/u);
  assert.match(text, /no program to grade/u);
  assert.doesNotMatch(text, /partial/u);
});

test('more than 5 % infrastructure failures: no headline, and the reason', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 40 });
  for (let i = 0; i < 19; i++) await store.recordOutcome(row({ task: `t${i}`, outcome: 'pass' }));
  await store.recordOutcome(row({ task: 't19', outcome: 'infra' }));
  assert.equal((await buildReport({ store, sweep: 's' })).noHeadline, null, '1 of 20 is the limit itself');
  await store.recordOutcome(row({ task: 't20', outcome: 'infra' }));
  const report = await buildReport({ store, sweep: 's' });
  assert.match(report.noHeadline ?? '', /2 of 21 recorded runs/u);
  assert.deepEqual(
    [report.passAt[1]?.value, report.passAt[1]?.interval95, report.passAt[1]?.low],
    [null, null, 19 / 40],
  );
  assert.match(renderReport(report, { color: false, width: 80 }), /No headline: 2 of 21/u);
});

test('a spent budget: its runs stay open, its money is told, and how to go on', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 4 });
  const account = { sweep: 's', taskId: 't0', sample: 0, step: 'generate/0', attempt: 'run/1/1' };
  const reserve = async (requestKey: string, tokens: number) => {
    const granted = await store.reserve({ account, requestKey, bound: { tokens, microUsd: tokens } });
    return granted.kind === 'reserved' ? granted.reservation : assert.fail(granted.kind);
  };
  await store.markPossiblyCharged(await reserve('k1', 1200));
  await reserve('k2', 300);
  await store.updateOperational('s', { budget: { tokens: 2000, usd: 0.5 } });
  await store.recordOutcome(row({ task: 't0', outcome: 'pass', trail: [program('generated', 0, true, true)] }));
  for (const task of ['t1', 't2']) await store.recordOutcome(row({ task, outcome: 'budget_exhausted', finalStep: '' }));
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(report.outcomes, { pass: 1, budget_exhausted: 2, not_run: 1 });
  const { value, low, high } = report.passAt[1] ?? assert.fail();
  assert.deepEqual([value, low, high], [1, 0.25, 1]);
  assert.equal(report.requests.possiblyCharged, 1);
  assert.deepEqual(report.budget, {
    settled: { tokens: 0, microUsd: 0 },
    open: { tokens: 300, microUsd: 300 },
    possiblyCharged: { tokens: 1200, microUsd: 1200, requests: 1 },
    cap: { tokens: 2000, microUsd: 500_000 },
  });
  const text = renderReport(report, { color: false, width: 100 });
  assert.match(text, /The budget ended 2 runs, .*`sweep resume s --budget-tokens N`/u);
  assert.match(text, /1 request without a reply may have been charged: up to 1,200 tokens \(US\$ 0\.001200\)/u);
  assert.match(text, /budget: 1,500 of 2,000 tokens and US\$ 0\.001500 of US\$ 0\.50, of it 300 tokens .* under way/u);

  await store.setSweepState('s', 'blocked', { reason: 'the key is refused\x1b[2J' });
  const blocked = renderReport(await buildReport({ store, sweep: 's' }), { color: false, width: 100 });
  assert.match(blocked, /^blocked: the key is refused/mu);
  assert.equal(stripVTControlCharacters(blocked), blocked);
});

test('zero-shot with samples: pass@k as far as the samples reach, no checker, two steps', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 2, samples: 5, strategy: { kind: 'zero-shot' } });
  for (let sample = 0; sample < 5; sample++) {
    for (const [task, right] of [
      ['t0', sample < 2],
      ['t1', false],
    ] as const) {
      await store.recordOutcome(
        row({
          task,
          sample,
          outcome: right ? 'pass' : 'wrong',
          trail: [program('generated', 0, null, right)],
          submission: 0,
        }),
      );
    }
  }
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(Object.keys(report.passAt), ['1', '5']);
  assert.deepEqual([report.passAt[1]?.value, report.passAt[5]?.value], [0.2, 0.5]);
  assert.deepEqual(report.steps, [
    { step: 'zeroShot', passed: 2, accepted: 0, share: 0.2 },
    { step: 'final', passed: 2, accepted: 0, share: 0.2 },
  ]);
  assert.deepEqual([report.checker, report.funnel, report.lastFive], [{ tp: 0, fp: 0, fn: 0, tn: 0 }, null, null]);
});

test('select: one step, the best programs beside the first of them, and runs without a test to rank by', async (t) => {
  const store = await freshStore(t);
  const strategy = {
    kind: 'select',
    programs: 9,
    tests: { queries: 1, perQuery: 5 },
    method: 'codet',
    prefilter: 'none',
    submit: 2,
  } as const;
  await startSweep(store, { tasks: 3, strategy });
  const best = (progressions: number[], right: number) =>
    progressions.map((progression) => program('selected', progression, null, progression === right));
  const rows = [
    { trail: best([4, 0], 4), outcome: 'pass', finalStep: 'selected' },
    { trail: best([0, 7], 7), outcome: 'wrong', finalStep: 'selected' },
    { trail: best([0, 1], 9), outcome: 'wrong', finalStep: 'unranked' },
  ] as const;
  for (const [i, one] of rows.entries())
    await store.recordOutcome(row({ task: `t${i}`, submission: 0, ...one, trail: [...one.trail] }));
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(report.steps, [{ step: 'final', passed: 1, accepted: 0, share: 1 / 3 }]);
  assert.deepEqual([report.lastFive, report.funnel], [null, null]);
  assert.deepEqual(report.selection, {
    kind: 'select',
    method: 'codet',
    ranked: 2,
    unranked: 1,
    otherThanFirst: 1,
    best: { submit: 2, passed: 2, share: 2 / 3 },
  });
  const text = renderReport(report, { color: false, width: 100 });
  assert.match(text, /ranked by codet 2 runs, 1 without a usable test to rank by\n {2}any of the best 2 2 {2}66\.7 %/u);
});

test('a revert by ACES: how many there were, and how many chose another program than a plain one', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 2, strategy: { ...QUALITY_FLOW, onRevert: 'aces' } });
  const trail = [program('generated', 0, false, false), program('debug1', 0, false, true)];
  for (const submission of [0, 1])
    await store.recordOutcome(
      row({ task: `t${submission}`, outcome: 'wrong', trail, submission, finalStep: 'reverted' }),
    );
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(report.selection, { kind: 'revert', method: 'aces-o', reverted: 2, otherThanFirst: 1 });
  assert.match(
    renderReport(report, { color: false, width: 100 }),
    /reverted by aces-o 2, to another program than the first: 1/,
  );
});

test("the paper's pass@5 looks at the last five programs of a run only", async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 3 });
  const wrong = (n: number) => Array.from({ length: n }, (_, i) => program('debug1', i, false, false));
  const trails = [
    [program('generated', 0, false, true), ...wrong(5)],
    [program('generated', 0, false, true), ...wrong(4)],
    wrong(2),
  ];
  for (const [i, trail] of trails.entries()) {
    await store.recordOutcome(row({ task: `t${i}`, outcome: 'wrong', trail, submission: 1, finalStep: 'unaccepted' }));
  }
  assert.deepEqual((await buildReport({ store, sweep: 's' })).lastFive, { passed: 1, share: 1 / 3 });
});

test('the submission always belongs to the five, so that pass@5 is never below pass@1', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 1 });
  const wrong = Array.from({ length: 9 }, (_, i) => program('debug1', i, false, false));
  const trail = [program('generated', 0, false, true), ...wrong];
  await store.recordOutcome(row({ task: 't0', outcome: 'pass', trail, submission: 0, finalStep: 'reverted' }));
  assert.deepEqual((await buildReport({ store, sweep: 's' })).lastFive, { passed: 1, share: 1 });
  assert.deepEqual(lastFive({ trail, submission: 0 }), [trail[0], ...trail.slice(-4)]);
  assert.deepEqual(lastFive({ trail, submission: 9 }), [trail[9], ...trail.slice(5, 9)]);
  assert.deepEqual(lastFive({ trail, submission: null }), trail.slice(-5));
  assert.deepEqual(lastFive({ trail: trail.slice(0, 2), submission: 1 }).length, 2);
});

test('steps that the strategy has no stage for stay in the JSON and out of the text', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 1, strategy: { ...QUALITY_FLOW, debugEpochs: 1, clarifier: false } });
  await store.recordOutcome(
    row({ task: 't0', outcome: 'pass', trail: [program('generated', 0, true, true)], submission: 0 }),
  );
  const report = await buildReport({ store, sweep: 's' });
  assert.equal(report.steps.length, 7);
  assert.deepEqual(report.withoutSteps, ['debug2', 'debug3', 'clarified']);
  const text = renderReport(report, { color: false, width: 100 });
  assert.match(text, /debug1/u);
  assert.doesNotMatch(text, /debug2|debug3|clarified/u);
});

test('what the benchmark could not judge is no verdict on the checker', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 1 });
  const entry = {
    ...program('generated', 0, true, false),
    graded: { verdict: 'invalid_test', tests: 0, passed: 0 } as const,
  };
  await store.recordOutcome(row({ task: 't0', outcome: 'invalid_test', trail: [entry], submission: 0 }));
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(report.checker, { tp: 0, fp: 0, fn: 0, tn: 0 });
  assert.deepEqual(report.outcomes, { invalid_test: 1 });
  assert.match(renderReport(report, { color: false, width: 80 }), /own tests failed on 1 run:/u);
});

test('the checker and the funnel say which runs they cannot hold', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 6 });
  const graded = { verdict: 'invalid_test', tests: 1, passed: 0 } as const;
  const invalid = { ...program('generated', 0, false, true), graded };
  const right = program('generated', 0, true, true);
  await store.recordOutcome(row({ task: 't0', outcome: 'pass', trail: [right], submission: 0 }));
  await store.recordOutcome(row({ task: 't1', outcome: 'no_code', trail: [], submission: null }));
  await store.recordOutcome(row({ task: 't2', outcome: 'truncated', trail: [], submission: null }));
  await store.recordOutcome(row({ task: 't3', outcome: 'no_code', trail: [], submission: null }));
  await store.recordOutcome(
    row({
      task: 't4',
      outcome: 'invalid_test',
      trail: [invalid],
      submission: 0,
    }),
  );
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(report.leftOut, {
    withoutProgram: { no_code: 2, truncated: 1 },
    unchecked: 0,
    unjudged: 1,
    unfinished: 1,
  });
  const without = 3 + report.leftOut.unfinished;
  assert.equal((report.funnel?.generated.entered ?? 0) + without, report.planned);
  assert.equal(Object.values(report.checker).reduce((sum, runs) => sum + runs, 0) + without + 1, report.planned);
  const text = renderReport(report, { color: false, width: 100 });
  const reasons = '3 runs without a program (no_code 2, truncated 1)';
  assert.ok(
    text.includes(
      `left out at the end: ${reasons}, 1 run that the benchmark's own tests could not judge, 1 unfinished run\n`,
    ),
    text,
  );
  assert.ok(text.includes(`left out: ${reasons}, 1 unfinished run\n`), text);
  assert.match(text, /final .* 4 │$/mu);
});

test('what is paid and what was stored already stand apart in the cost table', async (t) => {
  const store = await freshStore(t);
  const s = await startSweep(store, { tasks: 2 });
  const settings = s.spec.model;
  const prompt = { version: 'v', agent: 'generator', messages: [], temperature: 0, maxTokens: 1 };
  const replyOf = (tokens: number) => ({
    kind: 'ok' as const,
    text: '',
    reasoning: '',
    finishReason: 'stop',
    usage: { prompt: tokens, completion: tokens },
    model: 'm',
    latencyMs: 1,
  });
  for (const [index, tokens] of [1000, 20].entries()) {
    await store.putReply(`k${index}`, { settings, prompt, seed: 0, sample: 0, retry: 0 }, replyOf(tokens));
  }
  const record = (sweep: string, taskId: string, replyKey: string, reused: boolean) =>
    store.recordStep({
      run: { sweep, taskId, sample: 0, attempt: 1 },
      step: 'generate/0',
      activity: 'generateProgram',
      replyKey,
      reused,
      result: '{}',
      startedAt: new Date(0).toISOString(),
      durationMs: 1,
    });
  const { state: _state, stateReason: _reason, createdAt: _created, updatedAt: _updated, ...before } = s;
  await store.createSweep({ ...before, name: 'before' });
  await record('before', 't0', 'k0', false);
  await record('s', 't0', 'k0', true);
  await record('s', 't1', 'k1', false);
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(report.tokens.paid, { replies: 1, prompt: 20, completion: 20 });
  const text = renderReport(report, { color: false, width: 130 });
  assert.match(
    text,
    /paid: 20 prompt \+ 20 completion tokens, and 1,000 \+ 1,000 of stored replies that cost nothing here/,
  );
  assert.match(text, /generateProgram │ +1 │ +20 │ +20 │ +1 │ +1,000 │ +1,000 │/);

  const narrow = renderReport(report, { color: false, width: 80 });
  assert.match(narrow, /^ {2}tokens +paid +prompt +completion +stored +prompt +completion$/m);
  assert.match(narrow, /^ {2}generateProgram +1 +20 +20 +1 +1,000 +1,000$/m);
});

test('a pass that a program could have forged is counted and told', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: 2 });
  const graded = { verdict: 'pass', tests: 1, passed: 1 } as const;
  const sound = { ...program('generated', 0, true, true), graded };
  const doubtful = { ...program('generated', 0, true, true), graded: { ...graded, forgeable: true } as const };
  await store.recordOutcome(row({ task: 't0', outcome: 'pass', trail: [sound], submission: 0 }));
  await store.recordOutcome(row({ task: 't1', outcome: 'pass', trail: [sound, doubtful], submission: 1 }));
  const report = await buildReport({ store, sweep: 's' });
  assert.equal(report.forgeablePasses, 1);
  assert.match(renderReport(report, { color: false, width: 80 }), /rest on the program's own process.*: 1$/mu);
});

test('an empty sweep and an unknown one', async (t) => {
  const store = await freshStore(t);
  await startSweep(store, { tasks: [] });
  const report = await buildReport({ store, sweep: 's' });
  assert.deepEqual(
    [report.planned, report.outcomes, report.passAt, report.noHeadline],
    [0, {}, {}, 'The sweep plans nothing.'],
  );
  assert.ok(renderReport(report, { color: false, width: 80 }).includes('No headline'));
  await assert.rejects(
    buildReport({ store, sweep: 'x' }),
    (error) => error instanceof StoreError && error.kind === 'invalid',
  );
});

test('every block of a scripted report says so; text fits its width and carries no control characters', async (t) => {
  const store = await freshStore(t);
  const sweep = await startSweep(store, { tasks: ['\x1b[2Ja', 'b'], scripted: true });
  await store.recordOutcome(
    row({ task: 'b', outcome: 'pass', trail: [program('generated', 0, true, true)], submission: 0 }),
  );
  const report = await buildReport({ store, sweep: 's' });
  const text = renderReport(report, { color: false, width: 100 });
  const titles = text.split('\n').filter((line) => /^(pass@k|Right by step|Outcomes|Checker|Funnel|Cost)/u.test(line));
  assert.equal(titles.length, 6);
  for (const line of titles) assert.match(line, /scripted model/u);
  for (const line of text.split('\n')) assert.ok(stringWidth(line) <= 110, line);
  assert.equal(stripVTControlCharacters(text), text);
  const coloured = renderReport(report, { color: true, width: 100 });
  assert.notEqual(coloured, text);
  assert.equal(stripVTControlCharacters(coloured), text);

  const outcomes = await store.countOutcomes('s');
  const status = renderStatus(
    {
      name: 's\x1b',
      state: 'running',
      scripted: true,
      planned: 2,
      outcomes,
      stages: { debug: 1 },
      blocked: 'no\x07 key',
    },
    { color: false, width: 80 },
  );
  assert.match(status, /1 of 2 finished \(50\.0 %\)/u);
  assert.match(status, /pass 1 · not_run 1/u);
  assert.match(status, /scripted model/u);
  assert.equal(stripVTControlCharacters(status), status);
  const long = {
    ...sweep,
    name: 'n'.repeat(60),
    spec: { ...sweep.spec, benchmark: `/some/where/${'x'.repeat(40)}.jsonl` },
  };
  for (const width of [120, 100]) {
    const narrow = renderSweepList([{ sweep: long, outcomes }], { color: false, width });
    for (const line of narrow.trimEnd().split('\n')) assert.ok(stringWidth(line) <= width, line);
    assert.doesNotMatch(narrow, /some/u);
    assert.equal(/pass │ created/u.test(narrow), width === 120, `${width} columns`);
  }
  const list = renderSweepList([{ sweep, outcomes }], { color: false, width: 80 });
  assert.match(list, /1\/2/u);
  const ended = {
    name: 's',
    state: 'completed',
    scripted: false,
    planned: 2,
    outcomes: { pass: 1, budget_exhausted: 1 },
  };
  assert.match(renderStatus(ended, { color: false, width: 80 }), /^s  unfinished\n/u);
  assert.match(renderStatus({ ...ended, outcomes: { pass: 1 } }, { color: false, width: 80 }), /^s  unfinished\n/u);
  assert.match(
    renderStatus({ ...ended, outcomes: { pass: 1, wrong: 1 } }, { color: false, width: 80 }),
    /^s  completed\n/u,
  );
  assert.match(list, /\(scripted\)/u);
});
