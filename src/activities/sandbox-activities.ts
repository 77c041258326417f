import { cancellationSignal } from '@temporalio/activity';
import { comparePredictions } from '../grading/compare-predictions.ts';
import { gradeHidden } from '../grading/grade-hidden.ts';
import { gradeTests } from '../grading/grade-tests.ts';
import type { TestResult } from '../grading/verdict.ts';
import { DEFAULT_LIMITS, SandboxError } from '../sandbox/sandbox.ts';
import type { OutcomeSummary, RunKey, SandboxActivities, Solution, StepContext, TrailEntry } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { sandboxFailure } from './failures.ts';
import { recordedStep } from './recorded-step.ts';
import { requireSteps } from './require-steps.ts';
import { settledSummary } from './settled-summary.ts';
import { programsOf } from './step-texts.ts';
import { datasetOf, requirePlan } from './sweep-dataset.ts';

export function sandboxActivities(deps: Dependencies): Omit<SandboxActivities, 'runPool'> {
  const { store } = deps;

  /** Runs one sandbox job and notes it as a step of its problem. */
  const step = <Result>(context: StepContext, activity: string, work: () => Promise<Result>): Promise<Result> =>
    recordedStep(store, { context, activity }, async () => {
      const answer = await work();
      return { row: answer, answer };
    });

  return {
    runPrograms: ({ context, problem, programs, tests }) =>
      inSandbox(() =>
        step(context, 'runPrograms', async () =>
          brief(
            await gradeTests({
              sandbox: await deps.sandbox(),
              problem,
              programs,
              tests,
              trust: 'model',
              limits: DEFAULT_LIMITS,
              signal: cancellationSignal(),
            }),
          ),
        ).then((rows) => ({ kind: 'rows' as const, rows })),
      ),

    comparePredictions: ({ context, predictions }) =>
      inSandbox(() =>
        step(context, 'comparePredictions', async () =>
          comparePredictions({ sandbox: await deps.sandbox(), predictions, signal: cancellationSignal() }),
        ).then((equal) => ({ kind: 'compared' as const, equal })),
      ),

    scoreSubmission: ({ run, solution, steps = [] }) =>
      inSandbox(async () => {
        await requireSteps(store, run, steps);
        const dataset = await datasetOf(deps, await requirePlan(deps, run.sweep));
        const sandbox = await deps.sandbox();
        const entries = await trailOf(deps, run, solution);
        const programs = [...new Set(entries.map(({ code }) => code))];
        const grades = await gradeHidden({
          sandbox,
          problem: dataset.problem(run.taskId),
          hidden: dataset.hidden(run.taskId),
          programs,
          expected: deps.expected,
          signal: cancellationSignal(),
        });
        const trail = entries.map((entry) => {
          const graded = grades[programs.indexOf(entry.code)];
          if (graded === undefined) throw new Error(`no grade for a program of ${run.taskId}`);
          return { ...entry, graded };
        });
        const submission = solution.kind === 'selected' ? 0 : solution.submission;
        const submitted = trail[submission];
        if (submitted === undefined) throw new Error(`the submission of ${run.taskId} is not on its trail`);
        const summary: OutcomeSummary = await settledSummary(store, run, {
          outcome: submitted.graded.verdict,
          detail: [describeFailure(submitted.graded), solution.note].filter((part) => part !== undefined).join('; '),
          finalStep: solution.finalStep,
          tokens: 0,
          requests: 0,
        });
        const recorded = await store.recordOutcome({
          ...summary,
          run,
          trail,
          submission,
          fingerprint: await sandbox.fingerprint(),
          recordedAt: new Date().toISOString(),
        });
        return recorded ? summary : storedSummary(deps, run, summary);
      }),
  };
}

/** What is graded; of a selection, the programs that its steps hold. */
async function trailOf(
  { store }: Dependencies,
  run: RunKey,
  solution: Extract<Solution, { kind: 'submitted' | 'selected' }>,
): Promise<TrailEntry[]> {
  if (solution.kind === 'submitted') return solution.trail;
  const programs = await programsOf(store, run, { steps: solution.top.map(({ step }) => step) });
  return solution.top.map(({ program }, rank) => ({
    step: 'selected',
    progression: program,
    round: rank + 1,
    code: programs[rank] ?? '',
    accepted: null,
  }));
}

/** Of a test that passed only its text and its passing are kept: fifty of them for each program go into the history. */
function brief(rows: TestResult[][]): TestResult[][] {
  return rows.map((row) =>
    row.map((result) => (result.status === 'pass' ? { status: 'pass', test: result.test } : result)),
  );
}

/** The row an earlier try of this activity wrote, just before it was lost: the store and Temporal must tell the same. */
async function storedSummary({ store }: Dependencies, run: RunKey, otherwise: OutcomeSummary): Promise<OutcomeSummary> {
  const row = await store.getOutcome(run);
  if (row === undefined) return otherwise;
  const { outcome, detail, finalStep, tokens, requests } = row;
  return { outcome, detail, finalStep, tokens, requests };
}

/** What a person wants to read beside the verdict. Expected values stay out: this travels into the history of a problem. */
function describeFailure({
  verdict,
  passed,
  tests,
  firstFailure,
}: Awaited<ReturnType<typeof gradeHidden>>[number]): string {
  const all = `${tests} hidden ${tests === 1 ? 'test' : 'tests'}`;
  if (verdict === 'pass') return `passes ${all}`;
  const why = firstFailure?.exception === undefined ? '' : `: ${firstFailure.exception}`;
  return `${passed} of ${all} before the first failure${why}`.slice(0, 300);
}

async function inSandbox<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SandboxError ? sandboxFailure(error) : error;
  }
}
