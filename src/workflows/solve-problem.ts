import {
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  isCancellation,
  rootCause,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { OpenOutcome, OutcomeSummary, ProblemInput, Solution } from '../activities/contract.ts';
import type { Problem } from '../problems/problem.ts';
import { OutcomeKey, TokensKey } from '../temporal/search-attributes.ts';
import { localActivities, storeActivities } from './proxies.ts';
import { type Steps, TemporalSteps } from './steps.ts';
import { qualityFlow } from './strategies/quality-flow.ts';
import { select } from './strategies/select.ts';
import { zeroShot } from './strategies/zero-shot.ts';

/**
 * One sample of one task: load it, let the strategy work, grade what it submits. A verdict, and a model that gave nothing to grade,
 * complete the run; infrastructure fails it with a typed failure, cancellation cancels it (architecture §7). Either way a row says so.
 * A store that does not know what this workflow has seen done is an older one, restored from a backup: then it begins anew, and what that
 * store holds is found there.
 */
export async function solveProblem(input: ProblemInput): Promise<OutcomeSummary> {
  const { run } = input;
  try {
    const problem = await localActivities().loadProblem({ sweep: run.sweep, taskId: run.taskId });
    setCurrentDetails(describe(problem));
    const steps = new TemporalSteps(input, problem);
    const solution = await solve(problem, input, steps);
    const summary = await grade(input, solution, steps);
    upsertSearchAttributes([
      { key: OutcomeKey, value: summary.outcome },
      { key: TokensKey, value: summary.tokens },
    ]);
    setCurrentDetails(
      `${describe(problem)}\n\n**Outcome:** ${summary.outcome} (${summary.finalStep}). ${summary.detail}`,
    );
    return summary;
  } catch (error) {
    if (failedAs(error, 'StoreIsOlder')) return continueAsNew<typeof solveProblem>(input);
    return CancellationScope.nonCancellable(() => endWithoutGrade(input, error));
  }
}

function solve(problem: Problem, { strategy }: ProblemInput, steps: Steps): Promise<Solution> {
  switch (strategy.kind) {
    case 'zero-shot':
      return zeroShot(steps);
    case 'quality-flow':
      return qualityFlow(problem, strategy, steps);
    case 'select':
      return select(strategy, steps);
  }
}

async function grade({ run, queues }: ProblemInput, solution: Solution, steps: TemporalSteps): Promise<OutcomeSummary> {
  if (solution.kind === 'unserved') throw ApplicationFailure.nonRetryable(solution.detail, 'Model:rejected');
  if (solution.kind === 'submitted' || solution.kind === 'selected') return steps.scoreSubmission(solution);
  steps.enter('score');
  const summary = { outcome: solution.reason, detail: solution.detail, finalStep: 'nothing', tokens: 0, requests: 0 };
  return storeActivities(queues).recordOutcome({ run, summary, steps: steps.recorded });
}

async function endWithoutGrade({ run, queues }: ProblemInput, error: unknown): Promise<never> {
  const outcome = openOutcome(error);
  const detail =
    outcome === 'cancelled' ? 'cancelled before it ended' : (rootCause(error) ?? String(error)).slice(0, 500);
  upsertSearchAttributes([{ key: OutcomeKey, value: outcome }]);
  await storeActivities(queues).recordOutcome({
    run,
    summary: { outcome, detail, finalStep: 'nothing', tokens: 0, requests: 0 },
  });
  if (outcome === 'cancelled') throw error;
  throw ApplicationFailure.create({ type: outcome, message: detail, nonRetryable: true });
}

function openOutcome(error: unknown): OpenOutcome {
  if (isCancellation(error)) return 'cancelled';
  return failedAs(error, 'budget_exhausted') ? 'budget_exhausted' : 'infra';
}

function failedAs(error: unknown, type: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ApplicationFailure && cause.type === type) return true;
  return false;
}

/** Markdown for Temporal UI's "Current Details"; the statement is indented so that nothing in it is read as markup. */
function describe(problem: Problem): string {
  const tests = problem.visibleTests.map((test) =>
    test.kind === 'assert'
      ? test.source
      : `stdin ${JSON.stringify(test.stdin)} → stdout ${JSON.stringify(test.stdout)}`,
  );
  const block = (text: string) =>
    text
      .split('\n')
      .map((line) => `    ${line}`)
      .join('\n');
  return [
    `### ${problem.taskId}`,
    block(problem.statement.slice(0, 4000)),
    '**Visible tests**',
    block(tests.join('\n').slice(0, 4000) || 'none'),
  ].join('\n\n');
}
