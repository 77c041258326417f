import type { ClarifierEvidence, Test } from '../activities/contract.ts';
import type { QualityFlowOptions } from '../spec/spec.ts';
import { indices, inParallel } from './parallel.ts';
import type { Steps } from './steps.ts';

/** The synthesised tests of a problem, by progression; with `shared` every progression gets the same array. */
export interface TestPool {
  testsOf: (progression: number) => readonly Test[];
  evidenceOf: (progression: number) => ClarifierEvidence['tests'];
}

/**
 * Test Designer and Test Quality Checker (paper §3.2, §3.5): `queries × perQuery` common-case tests, without repetitions; with `tqc` each is
 * kept only if an inference from the problem statement alone agrees with its proclaimed output. Designed once a problem and shared (algorithms 1.6 G),
 * or once a progression.
 */
export async function designAndFilterTests(
  progressions: readonly number[],
  options: QualityFlowOptions,
  steps: Steps,
): Promise<TestPool> {
  const { queries, perQuery, shared } = options.tests;
  const pools = shared ? [0] : progressions;

  steps.enter('design-tests');
  const designed = await inParallel(pools, async (pool) => {
    const replies = await inParallel(indices(queries), (query) =>
      steps.designTests({
        step: `design/${pool}/${query}`,
        query: pool * queries + query,
        count: perQuery,
        of: queries,
      }),
    );
    return withoutRepetitions(replies.flatMap((reply) => (reply.kind === 'tests' ? reply.tests : []))).slice(
      0,
      queries * perQuery,
    );
  });

  if (options.tqc) steps.enter('filter-tests');
  const judged = await inParallel(designed, (tests, pool) =>
    inParallel(tests, async (test, index) => ({
      test,
      kept:
        !options.tqc ||
        (await steps.judgeTest({
          step: `judge/${pools[pool]}/${index}`,
          test,
          summary: `judge test ${index + 1} of ${tests.length}`,
        })),
    })),
  );
  const kept = judged.map((pool) => pool.filter((entry) => entry.kept).map((entry) => entry.test));
  const position = (progression: number) => (shared ? 0 : pools.indexOf(progression));
  return {
    testsOf: (progression) => kept[position(progression)] ?? [],
    evidenceOf: (progression) => judged[position(progression)] ?? [],
  };
}

function withoutRepetitions(tests: readonly Test[]): Test[] {
  const seen = new Map(
    tests.map((test) => [test.kind === 'assert' ? test.source : `${test.stdin}\u0000${test.stdout}`, test]),
  );
  return [...seen.values()];
}
