import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Solution, Test } from '../../activities/contract.ts';
import type { TestResult } from '../../grading/verdict.ts';
import type { Problem } from '../../problems/problem.ts';
import { packRows } from '../../selection/bit-matrix.ts';
import { type PassMatrix, passMatrix } from '../../selection/pass-matrix.ts';
import { selectPool } from '../../selection/select-pool.ts';
import type { QualityFlowOptions } from '../../spec/spec.ts';
import type { Steps } from '../steps.ts';
import { qualityFlow } from './quality-flow.ts';

const problem: Problem = {
  taskId: 'toy/double',
  kind: 'function',
  entryPoint: 'double',
  form: 'description',
  statement: 'Write a function that doubles a number.',
  preamble: '',
  visibleTests: [
    { kind: 'assert', source: 'assert double(1) == 2' },
    { kind: 'assert', source: 'assert double(4) == 8' },
  ],
};

const defaults: QualityFlowOptions = {
  kind: 'quality-flow',
  checker: 'imagined',
  diversified: 3,
  tests: { queries: 2, perQuery: 2, shared: true },
  tqc: true,
  debugEpochs: 3,
  carryForward: false,
  clarifier: true,
  clarifierAttempts: 2,
  revert: true,
  checkerSeesProblem: false,
};

/**
 * A team whose programs are plain words: `good…` satisfies every check, `tricky…` fails the visible tests but passes the synthesised
 * ones, everything else fails both. Every call is noted as `step <- what it was given`.
 */
function team(script: {
  generate?: (prompt: number, clarification?: string) => string | undefined;
  debug?: (code: string, prompt: number) => string | undefined;
  design?: (query: number) => string[];
  judge?: (test: string) => boolean;
  clarify?: (code: string, earlier: number) => string | undefined;
}): Steps & { calls: string[]; stages: string[] } {
  const calls: string[] = [];
  const stages: string[] = [];
  const pools = new Map<string, PassMatrix>();
  const unusable = { kind: 'unusable', reason: 'no_code', detail: 'prose only' } as const;
  const reply = { key: '', tokens: { prompt: 0, completion: 0 }, reused: false, prompt: '', reply: '' };
  const program = (code: string | undefined) =>
    code === undefined ? unusable : ({ kind: 'program', code, rule: 'fence', reply } as const);
  const note = (step: string, detail: string) => calls.push(`${step} <- ${detail}`);
  return {
    calls,
    stages,
    enter: (stage) => void stages.push(stage),
    async generateProgram({ step, prompt, clarification, avoid }) {
      note(step, clarification === undefined ? '' : `${clarification}, not ${avoid}`);
      return program(script.generate?.(prompt, clarification));
    },
    async imagineExecution({ step, code }) {
      note(step, code);
      return code.startsWith('mute')
        ? undefined
        : { prediction: code.startsWith('good') ? '2' : '3', comparison: '__prediction__ == 2' };
    },
    async criticiseProgram({ step, code }) {
      note(step, code);
      return code.startsWith('good');
    },
    async designTests({ step, query }) {
      note(step, '');
      const sources = script.design?.(query) ?? [
        `assert double(${query}) == ${2 * query}`,
        `assert double(-${query}) == -${2 * query}`,
      ];
      return { kind: 'tests', tests: sources.map((source) => ({ kind: 'assert', source })), reply };
    },
    async judgeTest({ step, test }) {
      note(step, sourceOf(test));
      return script.judge?.(sourceOf(test)) ?? true;
    },
    async debugProgram({ step, code, results, prompt }) {
      note(step, `${code} with ${results.length} failures, prompt ${prompt}`);
      return program(script.debug?.(code, prompt));
    },
    async clarifyProblem({ step, evidence }) {
      note(
        step,
        `${evidence.code}, ${evidence.tests.filter(({ kept }) => kept).length} kept, ${evidence.earlier.length} earlier`,
      );
      return script.clarify?.(evidence.code, evidence.earlier.length) ?? 'clearer';
    },
    async runPrograms({ step, programs, tests }) {
      note(step, `${programs.join('+')} on ${tests.length}`);
      const visible = tests === problem.visibleTests;
      return programs.map((code) =>
        tests.map(
          (test): TestResult => ({
            status: code.startsWith('good') || (!visible && code.startsWith('tricky')) ? 'pass' : 'fail',
            test: sourceOf(test),
          }),
        ),
      );
    },
    drawPrograms: () => assert.fail('QualityFlow draws nothing'),
    drawTests: () => assert.fail('QualityFlow draws nothing'),
    async runPool({ step, programs: source, tests: given }) {
      const programs = 'programs' in source ? source.programs : [];
      const tests = 'tests' in given ? given.tests : [];
      note(step, `${programs.join('+')} on ${tests.length}`);
      const passes = programs.map((code) => tests.map(() => code.startsWith('good') || code.startsWith('tricky')));
      pools.set(step, passMatrix(packRows(passes)));
      const distinct = new Set(programs).size;
      return { kind: 'pool', step, programs: programs.length, distinct, tests: tests.length, leftOut: 0 };
    },
    async rankPool({ step, pool, method, submit }) {
      const matrix = pools.get(pool);
      assert.ok(matrix);
      const { order, groups } = selectPool(method, { matrix }, 0);
      note(step, method);
      return { kind: 'ranked', top: order.slice(0, submit), tied: groups[0]?.length ?? 0 };
    },
    async comparePredictions({ step, predictions }) {
      note(step, `${predictions.length} predictions`);
      return predictions.map(({ prediction }) => prediction === '2');
    },
  };
}

function sourceOf(test: Test): string {
  return test.kind === 'assert' ? test.source : test.stdin;
}

function submitted(solution: Solution): { code: string; finalStep: string; programs: number } {
  assert.equal(solution.kind, 'submitted');
  if (solution.kind !== 'submitted') throw new Error('unreachable');
  return {
    code: solution.trail[solution.submission]?.code ?? '',
    finalStep: solution.finalStep,
    programs: solution.trail.length,
  };
}

const run = (options: Partial<QualityFlowOptions>, steps: Steps) =>
  qualityFlow(problem, { ...defaults, ...options }, steps);

describe('qualityFlow', () => {
  it('accepts the first good program in prompt order and designs no test', async () => {
    const steps = team({ generate: (prompt) => (prompt === 0 ? 'bad' : `good${prompt}`) });
    assert.deepEqual(submitted(await run({}, steps)), { code: 'good1', finalStep: 'generated', programs: 3 });
    assert.deepEqual(steps.stages, ['check']);
    assert.equal(steps.calls.filter((call) => call.startsWith('check/generated/')).length, 3 * 2 + 1);
  });

  it('checks equal programs of a stage once', async () => {
    const steps = team({ generate: () => 'good' });
    await run({}, steps);
    assert.equal(steps.calls.filter((call) => call.startsWith('check/')).length, 2 + 1);
  });

  it('restarts each epoch from the generated program, with another prompt', async () => {
    const steps = team({
      generate: (prompt) => `bad${prompt}`,
      debug: (_, prompt) => (prompt === 2 ? 'good' : `worse${prompt}`),
    });
    assert.deepEqual(submitted(await run({ diversified: 1 }, steps)), {
      code: 'good',
      finalStep: 'debug3',
      programs: 4,
    });
    assert.deepEqual(
      steps.calls.filter((call) => /^debug\d\//.test(call)),
      [
        'debug1/0 <- bad0 with 4 failures, prompt 0',
        'debug2/0 <- bad0 with 4 failures, prompt 1',
        'debug3/0 <- bad0 with 4 failures, prompt 2',
      ],
    );
  });

  it('carries the revision forward when told to', async () => {
    const steps = team({ generate: () => 'bad', debug: (code) => `${code}!` });
    await run({ diversified: 1, carryForward: true, clarifier: false }, steps);
    assert.deepEqual(
      steps.calls.filter((call) => /^debug\d\//.test(call)).map((call) => call.split(' with')[0]),
      ['debug1/0 <- bad', 'debug2/0 <- bad!', 'debug3/0 <- bad!!'],
    );
  });

  it('stops debugging a program that passes every synthesised test but is rejected', async () => {
    const steps = team({ generate: () => 'bad', debug: () => 'tricky' });
    await run({ diversified: 1, clarifier: false }, steps);
    assert.equal(steps.calls.filter((call) => /^debug\d\//.test(call)).length, 1);
  });

  it('never debugs a program that already passes every synthesised test', async () => {
    const steps = team({ generate: () => 'tricky' });
    await run({ diversified: 1, clarifier: false }, steps);
    assert.equal(steps.calls.filter((call) => /^debug\d\//.test(call)).length, 0);
  });

  it('skips self-debugging when TQC keeps no test', async () => {
    const steps = team({
      generate: (_, clarification) => (clarification === undefined ? 'bad' : 'good'),
      judge: () => false,
    });
    assert.deepEqual(submitted(await run({ diversified: 1 }, steps)), {
      code: 'good',
      finalStep: 'clarified',
      programs: 2,
    });
    assert.deepEqual(steps.stages, ['check', 'design-tests', 'filter-tests', 'clarify']);
    assert.ok(steps.calls.includes('clarify1/0 <- bad, 0 kept, 0 earlier'));
  });

  it('judges no test without TQC', async () => {
    const steps = team({ generate: () => 'bad', debug: () => 'good' });
    await run({ tqc: false }, steps);
    assert.equal(steps.calls.filter((call) => call.startsWith('judge/')).length, 0);
    assert.ok(!steps.stages.includes('filter-tests'));
  });

  it('designs tests once for all progressions, or once for each', async () => {
    const shared = team({ generate: (prompt) => `bad${prompt}` });
    await run({ clarifier: false }, shared);
    assert.equal(shared.calls.filter((call) => call.startsWith('design/')).length, 2);
    const own = team({ generate: (prompt) => `bad${prompt}` });
    await run({ clarifier: false, tests: { queries: 2, perQuery: 2, shared: false } }, own);
    assert.equal(own.calls.filter((call) => call.startsWith('design/')).length, 6);
  });

  it('lets the second clarification know that the first one failed', async () => {
    const steps = team({
      generate: (_, clarification) => (clarification === 'second' ? 'good' : 'bad'),
      clarify: (_, earlier) => (earlier === 0 ? 'first' : 'second'),
    });
    assert.deepEqual(submitted(await run({ diversified: 1, debugEpochs: 0 }, steps)).finalStep, 'clarified');
    assert.ok(steps.calls.includes('clarify2/0 <- bad, 4 kept, 1 earlier'));
  });

  it('reverts to the first generated program when nothing is accepted', async () => {
    const steps = team({ generate: (prompt) => `bad${prompt}`, debug: (code, prompt) => `${code}d${prompt}` });
    assert.deepEqual(submitted(await run({}, steps)), { code: 'bad0', finalStep: 'reverted', programs: 3 + 9 + 6 });
    assert.deepEqual(steps.stages, ['check', 'design-tests', 'filter-tests', 'debug', 'clarify', 'revert']);
  });

  it('submits progression 0’s latest program without revert', async () => {
    const steps = team({ generate: (prompt, clarification) => `bad${prompt}${clarification ?? ''}` });
    assert.deepEqual(submitted(await run({ revert: false }, steps)).code, 'bad0clearer');
  });

  it('runs every step and accepts nothing with checker none', async () => {
    const steps = team({ generate: () => 'good', debug: () => 'good', judge: () => true });
    const solution = await run({ checker: 'none', revert: false }, steps);
    assert.deepEqual(submitted(solution).finalStep, 'clarified');
    assert.ok(solution.kind === 'submitted' && solution.trail.every(({ accepted }) => accepted === null));
  });

  it('executes the visible tests with checker python, and imagines none', async () => {
    const steps = team({ generate: (prompt) => (prompt === 2 ? 'good' : 'tricky') });
    assert.equal(submitted(await run({ checker: 'python' }, steps)).code, 'good');
    assert.deepEqual(
      steps.calls.filter((call) => call.startsWith('check/')),
      ['check/generated <- tricky+good on 2'],
    );
  });

  it('asks the critic once a program', async () => {
    const steps = team({ generate: () => 'good' });
    assert.equal(submitted(await run({ checker: 'critic' }, steps)).finalStep, 'generated');
    assert.deepEqual(
      steps.calls.filter((call) => call.startsWith('check/')),
      ['check/generated/0 <- good'],
    );
  });

  it('rejects when there is no visible test to check against', async () => {
    for (const checker of ['imagined', 'python'] as const) {
      const steps = team({ generate: () => 'good', debug: () => 'good' });
      const solution = await qualityFlow(
        { ...problem, visibleTests: [] },
        { ...defaults, checker, clarifier: false },
        steps,
      );
      assert.equal(submitted(solution).finalStep, 'reverted');
    }
  });

  it('rejects on an unreadable prediction', async () => {
    const steps = team({ generate: () => 'mute' });
    assert.equal(submitted(await run({ clarifier: false }, steps)).finalStep, 'reverted');
  });

  it('goes on with the prompts that gave a program', async () => {
    const steps = team({
      generate: (prompt) => (prompt === 0 ? undefined : `bad${prompt}`),
      debug: (code) => (code === 'bad2' ? 'good' : 'worse'),
    });
    assert.deepEqual(submitted(await run({}, steps)), { code: 'good', finalStep: 'debug1', programs: 4 });
  });

  it('has nothing to submit when no prompt gave a program', async () => {
    assert.deepEqual(await run({}, team({})), { kind: 'nothing', reason: 'no_code', detail: 'no_code: prose only' });
  });

  it('is unserved, not wrong, when the endpoint rejected the requests', async () => {
    const steps: Steps = {
      ...team({}),
      generateProgram: async () => ({ kind: 'unusable', reason: 'rejected', detail: 'HTTP 400' }),
    };
    assert.deepEqual(await run({}, steps), { kind: 'unserved', detail: 'HTTP 400' });
  });

  it('reverts to what there is when prompt 0 gave no program', async () => {
    const steps = team({ generate: (prompt) => (prompt === 0 ? undefined : `bad${prompt}`) });
    assert.equal(submitted(await run({ clarifier: false }, steps)).code, 'bad1');
  });

  describe('on revert, by ACES', () => {
    const generate = (prompt: number) => ['bad', 'tricky', 'worse'][prompt];
    const byAces: Partial<QualityFlowOptions> = { onRevert: 'aces', clarifier: false, debugEpochs: 1 };

    it('submits the program that the designed tests put first, where a plain revert submits the first', async () => {
      const steps = team({ generate, debug: (code) => `${code} debugged` });
      const solution = await run(byAces, steps);
      assert.deepEqual(submitted(solution), { code: 'tricky', finalStep: 'reverted', programs: 5 });
      assert.deepEqual(steps.calls.slice(-2), [
        'revert/pool <- bad+tricky+worse+bad debugged+worse debugged on 4',
        'revert/rank <- aces-o',
      ]);
      assert.equal('note' in solution && solution.note, 'ACES ranks it first of 5 programs on 4 designed tests');
      const plain = await run(
        { ...byAces, onRevert: 'first' },
        team({ generate, debug: (code) => `${code} debugged` }),
      );
      assert.equal(submitted(plain).code, 'bad');
    });

    it('falls back to the first, and says so, where no designed test was kept', async () => {
      const steps = team({ generate, judge: () => false });
      const solution = await run(byAces, steps);
      assert.equal(submitted(solution).code, 'bad');
      assert.match(('note' in solution && solution.note) || '', /^reverted to the first program: there is no/);
      assert.ok(!steps.calls.some((call) => call.startsWith('revert/')));
    });

    it('changes nothing where a program was accepted', async () => {
      const steps = team({ generate: () => 'good' });
      assert.equal(submitted(await run(byAces, steps)).finalStep, 'generated');
    });
  });
});
