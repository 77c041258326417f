import { cancellationSignal } from '@temporalio/activity';
import { z } from 'zod';
import { runPool } from '../grading/run-pool.ts';
import { runStdioPool } from '../grading/run-stdio-pool.ts';
import type { Problem } from '../problems/problem.ts';
import type { CountedTest } from '../selection/pool-matrix.ts';
import { countTests, matrixLine, poolMatrix, testText, usableTests } from '../selection/pool-matrix.ts';
import { readMatrix } from '../selection/read-matrix.ts';
import { selectPool, withPrefilter } from '../selection/select-pool.ts';
import { passRates, reportTests } from '../selection/test-report.ts';
import type { SandboxActivities, StoreActivities } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { permanentFailure } from './failures.ts';
import { recordedStep } from './recorded-step.ts';
import { programsOf, resultsOf, testsOf } from './step-texts.ts';

/** The step of each program, where they have one. */
const rowNames = z.object({ steps: z.array(z.string()).optional() });

/** Of a ranking's row, for `show`: so many tests, the heaviest. */
const TESTS_SHOWN = 20;

/**
 * A pool of programs and tests: run, and ranked. Nothing big travels: programs and tests are read from the rows of the steps that made them, and the
 * matrix is the row of its own step, in the form of `select --keep` (docs/selection.md). A repetition replaces the row.
 */
export function poolActivities(
  deps: Dependencies,
): Pick<SandboxActivities, 'runPool'> & Pick<StoreActivities, 'rankPool'> {
  const { store } = deps;
  return {
    runPool: ({ context, problem, programs: programSource, tests: testSource }) =>
      recordedStep(store, { context, activity: 'runPool' }, async () => {
        const { run } = context;
        const programs = await programsOf(store, run, programSource);
        const written = countTests(await testsOf(store, run, testSource));
        const tests = usableTests({ tests: written, setup: problem.preamble, programs });
        const matrix = poolMatrix({
          problem,
          programs,
          tests,
          ...(await runTests(deps, { problem, programs, tests })),
        });
        const columns = matrix.matrix.bits.columns;
        const leftOut = written.length - columns;
        const steps = 'steps' in programSource ? { steps: programSource.steps } : {};
        const distinct = new Set(programs).size;
        return {
          row: { kind: 'pool', leftOut, ...steps, ...matrixLine(matrix) },
          answer: { kind: 'pool', step: context.step, programs: programs.length, distinct, tests: columns, leftOut },
        };
      }),

    rankPool: ({ context, pool, method, prefilter, seed, submit }) =>
      recordedStep(store, { context, activity: 'rankPool' }, async () => {
        const [text = ''] = await resultsOf(store, context.run, [pool]);
        const reading = readMatrix(text);
        if (reading.kind === 'invalid') throw permanentFailure('PoolUnreadable', `${pool}: ${reading.message}`);
        const { file } = reading;
        const { steps } = rowNames.parse(JSON.parse(text));
        const { bits } = file.matrix;
        const selection = selectPool(prefilter === 'static' ? withPrefilter(method) : method, file, seed);
        const tests = reportTests({ bits, passRates: passRates(file.matrix), selection });
        const row = {
          kind: 'ranking',
          method,
          prefilter,
          programs: bits.rows,
          columns: bits.columns,
          order: selection.order,
          ...(steps && { steps: selection.order.map((program) => steps[program] ?? '') }),
          scores: selection.order.map((program) => selection.scores[program] ?? null),
          ...(tests && {
            tests: tests.slice(0, TESTS_SHOWN).map((line) => ({ ...line, source: file.tests?.[line.test] ?? '' })),
          }),
        };
        const top = selection.order.slice(0, submit);
        return { row, answer: { kind: 'ranked', top, tied: selection.groups[0]?.length ?? 0 } };
      }),
  };
}

/** Without tests no container is asked for. */
async function runTests(
  deps: Dependencies,
  { problem, programs, tests }: { problem: Problem; programs: string[]; tests: CountedTest[] },
) {
  if (tests.length === 0) return { statuses: programs.map(() => []), outputs: programs.map(() => new Int32Array()) };
  const job = { sandbox: await deps.sandbox(), programs, signal: cancellationSignal() };
  if (problem.kind === 'function') return runPool({ ...job, problem, tests: tests.map(({ test }) => testText(test)) });
  return runStdioPool({ ...job, cases: tests.flatMap(({ test }) => (test.kind === 'stdio' ? [test] : [])) });
}
