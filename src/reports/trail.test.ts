import assert from 'node:assert/strict';
import test from 'node:test';
import type { Step } from '../activities/contract.ts';
import type { OutcomeRow } from '../store/store.ts';
import { REPORT_STEPS, stateAt } from './trail.ts';

type Entry = OutcomeRow['trail'][number];

/** `generated/0+` = step, progression, and the checker's word: + accepted, - rejected, ? not checked. */
function entry(text: string): Entry {
  const match = /^(generated|debug[123]|clarified)\/(\d)([-+?])$/u.exec(text);
  assert.ok(match, text);
  const [, step, progression, word] = match;
  const steps: Step[] = ['generated', 'debug1', 'debug2', 'debug3', 'clarified'];
  return {
    step: steps.find((known) => known === step) ?? 'generated',
    progression: Number(progression),
    round: 0,
    code: text,
    accepted: word === '?' ? null : word === '+',
    graded: { verdict: 'wrong', tests: 1, passed: 0 },
  };
}

function statesOf(input: { trail: string[]; submission: number | null; finalStep: string }) {
  const row = { trail: input.trail.map(entry), submission: input.submission, finalStep: input.finalStep };
  return Object.fromEntries(REPORT_STEPS.map((step) => [step, stateAt(row, step)?.program.code]));
}

test('accepted at once: every later step has the same program, zero-shot is prompt 0 alone', () => {
  assert.deepEqual(
    statesOf({ trail: ['generated/0-', 'generated/1+', 'generated/2+'], submission: 1, finalStep: 'generated' }),
    {
      zeroShot: 'generated/0-',
      generated: 'generated/1+',
      debug1: 'generated/1+',
      debug2: 'generated/1+',
      debug3: 'generated/1+',
      clarified: 'generated/1+',
      final: 'generated/1+',
    },
  );
});

test('nothing accepted: the latest program of progression 0 at each step, then revert', () => {
  const trail = ['generated/0-', 'generated/1-', 'debug1/0-', 'debug1/1-', 'debug2/0-', 'clarified/0-', 'clarified/1-'];
  assert.deepEqual(statesOf({ trail, submission: 0, finalStep: 'reverted' }), {
    zeroShot: 'generated/0-',
    generated: 'generated/0-',
    debug1: 'debug1/0-',
    debug2: 'debug2/0-',
    debug3: 'debug2/0-',
    clarified: 'clarified/0-',
    final: 'generated/0-',
  });
});

test('accepted in the debugger: breadth-first, in the order of the trail', () => {
  const trail = ['generated/0-', 'generated/1-', 'debug1/0-', 'debug1/1+', 'debug2/0+'];
  const states = statesOf({ trail, submission: 3, finalStep: 'debug1' });
  assert.deepEqual(
    [states.generated, states.debug1, states.debug2, states.final],
    ['generated/0-', 'debug1/1+', 'debug1/1+', 'debug1/1+'],
  );
});

test('prompt 0 gave no program: zero-shot has none, the lowest progression stands in', () => {
  const states = statesOf({
    trail: ['generated/2-', 'generated/3-', 'debug1/2-'],
    submission: 0,
    finalStep: 'reverted',
  });
  assert.deepEqual([states.zeroShot, states.generated, states.debug1], [undefined, 'generated/2-', 'debug1/2-']);
});

test('no program at all: no state at any step', () => {
  const states = statesOf({ trail: [], submission: null, finalStep: 'nothing' });
  assert.ok(Object.values(states).every((state) => state === undefined));
});

test('a reverted submission counts as rejected whatever its entry says', () => {
  const row = { trail: [entry('generated/0?')], submission: 0, finalStep: 'reverted' };
  assert.equal(stateAt(row, 'final')?.accepted, false);
  assert.equal(stateAt({ ...row, finalStep: 'generated' }, 'final')?.accepted, null);
});
