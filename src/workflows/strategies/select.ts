import type { Solution } from '../../activities/contract.ts';
import type { SelectOptions } from '../../spec/spec.ts';
import type { Steps } from '../steps.ts';
import { nothingToSubmit } from '../trail.ts';

/**
 * Selection among many (CodeT, ACES and their peers): n programs and the model's own tests, the pass matrix, a method's ranking; the k programs
 * it puts first are graded, the first is the submission. No program is the model's doing, as in the other strategies; without a test that
 * can be used nothing tells the programs apart, and the first are taken as they came. Programs, tests and matrix stay in the store.
 */
export async function select(options: SelectOptions, steps: Steps): Promise<Solution> {
  const { method, prefilter, submit } = options;
  const programs = await steps.drawPrograms({ count: options.programs });
  if (programs.steps.length === 0) return nothingToSubmit(programs.unusable === undefined ? [] : [programs.unusable]);

  steps.enter('design-tests');
  const tests = await steps.drawTests({ count: options.tests.queries, perQuery: options.tests.perQuery });

  steps.enter('select');
  const pool = await steps.runPool({
    step: 'pool',
    programs: { steps: programs.steps },
    tests: { steps: tests.steps },
    summary: `run the tests of ${tests.steps.length} replies on ${programs.steps.length} programs`,
  });
  const { top, tied } = await steps.rankPool({ step: 'rank', pool: pool.step, method, prefilter, submit });
  const best = top.flatMap((program) => {
    const step = programs.steps[program];
    return step === undefined ? [] : [{ step, program: drawOf(step) }];
  });
  if (pool.tests === 0)
    return {
      kind: 'selected',
      top: best,
      finalStep: 'unranked',
      note: `no usable test to rank ${pool.programs} programs by`,
    };
  const ties = tied > 1 ? `, with ${tied - 1} more of the same score` : '';
  const tested = `${pool.tests} ${pool.tests === 1 ? 'test' : 'tests'}`;
  const ranked = `ranked first of ${pool.programs} programs by ${method} on ${tested}${ties}`;
  return { kind: 'selected', top: best, finalStep: 'selected', note: ranked };
}

/** `program/17` → 17: a draw without a program has no place in the pool, so that places tell a person nothing. */
function drawOf(step: string): number {
  return Number(step.split('/')[1]);
}
