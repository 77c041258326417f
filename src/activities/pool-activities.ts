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
import type { SandboxActivities, StepContext, StoreActivities } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { permanentFailure } from './failures.ts';
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
    async runPool({ context, problem, programs: programSource, tests: testSource }) {
      const { run } = context;
      const startedAt = new Date();
      const programs = await programsOf(store, run, programSource);
      const written = countTests(await testsOf(store, run, testSource));
      const tests = usableTests({ tests: written, setup: problem.preamble, programs });
      const matrix = poolMatrix({ problem, programs, tests, ...(await runTests(deps, { problem, programs, tests })) });
      const columns = matrix.matrix.bits.columns;
      const leftOut = written.length - columns;
      const steps = 'steps' in programSource ? { steps: programSource.steps } : {};
      await record(context, 'runPool', startedAt, { kind: 'pool', leftOut, ...steps, ...matrixLine(matrix) });
      const distinct = new Set(programs).size;
      return { kind: 'pool', step: context.step, programs: programs.length, distinct, tests: columns, leftOut };
    },

    async rankPool({ context, pool, method, prefilter, seed, submit }) {
      const startedAt = new Date();
      const [text = ''] = await resultsOf(store, context.run, [pool]);
      const reading = readMatrix(text);
      if (reading.kind === 'invalid') throw permanentFailure('PoolUnreadable', `${pool}: ${reading.message}`);
      const { file } = reading;
      const { steps } = rowNames.parse(JSON.parse(text));
      const { bits } = file.matrix;
      const selection = selectPool(prefilter === 'static' ? withPrefilter(method) : method, file, seed);
      const tests = reportTests({ bits, passRates: passRates(file.matrix), selection });
      await record(context, 'rankPool', startedAt, {
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
      });
      return { kind: 'ranked', top: selection.order.slice(0, submit), tied: selection.groups[0]?.length ?? 0 };
    },
  };

  async function record(context: StepContext, activity: string, startedAt: Date, result: object): Promise<void> {
    await store.recordStep({
      run: context.run,
      step: context.step,
      activity,
      reused: false,
      result: JSON.stringify(result),
      startedAt: startedAt.toISOString(),
      durationMs: Date.now() - startedAt.getTime(),
    });
  }
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
