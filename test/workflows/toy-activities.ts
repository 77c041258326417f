import { ApplicationFailure } from '@temporalio/common';
import type { Activities, Drawn, OutcomeSummary, PlannedRun, RunKey } from '../../src/activities/contract.ts';
import type { ModelSettings } from '../../src/models/model.ts';
import type { Problem } from '../../src/problems/problem.ts';
import type { Strategy } from '../../src/spec/spec.ts';
import { isFinal } from '../../src/store/final-outcome.ts';
import { problemWorkflowId } from '../../src/temporal/problem-id.ts';

export const toyModel: ModelSettings = {
  endpoint: 'scripted',
  name: 'toy',
  api: 'chat',
  parameters: {},
  extraBody: {},
  maxTokens: {},
  requestTimeoutMs: 60_000,
};

export function toyProblem(taskId: string): Problem {
  return {
    taskId,
    kind: 'function',
    entryPoint: 'f',
    form: 'description',
    statement: `Solve ${taskId}.`,
    preamble: '',
    visibleTests: [{ kind: 'assert', source: 'assert f(1) == 2' }],
  };
}

/** A store in memory, and the planned tasks. */
export class ToyPlan {
  readonly outcomes = new Map<string, OutcomeSummary & { run: RunKey }>();
  readonly states: string[] = [];
  readonly tasks: string[];
  readonly strategy: Strategy;
  concurrency = 4;
  maxWaitMs = 60_000;

  constructor(tasks: string[], strategy: Strategy = { kind: 'zero-shot' }) {
    this.tasks = tasks;
    this.strategy = strategy;
  }

  record(run: RunKey, summary: OutcomeSummary): OutcomeSummary {
    const before = this.outcomes.get(run.taskId);
    if (before === undefined || !isFinal(before.outcome)) this.outcomes.set(run.taskId, { ...summary, run });
    return summary;
  }

  unfinished(sweep: string, from: number, to: number, limit: number): PlannedRun[] {
    return this.tasks
      .map((taskId, position) => ({ position, taskId, sample: 0, before: this.outcomes.get(taskId) }))
      .filter(({ position, before }) => position >= from && position < to && !(before && isFinal(before.outcome)))
      .slice(0, limit)
      .map(({ before, ...run }) => ({
        ...run,
        workflowId: problemWorkflowId({ ...run, sweep }),
        attempt: (before?.run.attempt ?? 0) + 1,
      }));
  }
}

const reply = { key: 'k', tokens: { prompt: 1, completion: 1 }, reused: false, prompt: 'p', reply: 'r' };

const indices = (count: number) => Array.from({ length: count }, (_, index) => index);
const drawn = (name: string, from: number, count: number): Drawn => {
  const steps = indices(count).map((index) => `${name}/${from + index}`);
  return { kind: 'drawn', steps, recorded: steps };
};

/** Deterministic activities; a test replaces the ones it is about. */
export function toyActivities(plan: ToyPlan, own: Partial<Activities> = {}): Activities {
  return {
    loadProblem: async ({ taskId }) => toyProblem(taskId),
    loadSweep: async () => ({
      planned: plan.tasks.length,
      benchmark: 'toy',
      strategy: plan.strategy,
      model: toyModel,
      endpointIdentity: 'toy',
      seed: 0,
      maxWaitMs: plan.maxWaitMs,
      concurrency: plan.concurrency,
    }),
    listUnfinished: async ({ sweep, from, to, limit }) => plan.unfinished(sweep, from, to, limit),
    isRunning: async () => {
      throw ApplicationFailure.nonRetryable('this test expects no wait');
    },
    recordOutcome: async ({ run, summary }) => plan.record(run, summary),
    recordTermination: async ({ run }) => {
      plan.record(run, { outcome: 'cancelled', detail: 'terminated', finalStep: 'nothing', tokens: 0, requests: 0 });
    },
    endedByHand: async () => null,
    markTerminated: async () => {},
    countOutcomes: async () =>
      Object.fromEntries(
        [...Map.groupBy(plan.outcomes.values(), ({ outcome }) => outcome)].map(([outcome, rows]) => [
          outcome,
          rows.length,
        ]),
      ),
    markSweep: async ({ state }) => void plan.states.push(state),
    generateProgram: async ({ problem, prompt, clarification }) => ({
      kind: 'program',
      code: `${problem.taskId} ${prompt} ${clarification ?? ''}`,
      rule: 'toy',
      reply,
    }),
    drawPrograms: async ({ from, count }) => drawn('program', from, count),
    drawTests: async ({ from, count }) => drawn('tests', from, count),
    runPool: async ({ context, programs, tests }) => {
      const held = 'steps' in programs ? programs.steps.length : programs.programs.length;
      const columns = 'steps' in tests ? tests.steps.length : tests.tests.length;
      return { kind: 'pool', step: context.step, programs: held, distinct: held, tests: columns, leftOut: 0 };
    },
    rankPool: async ({ submit }) => ({ kind: 'ranked', top: indices(submit).reverse(), tied: 1 }),
    imagineExecution: async () => ({ kind: 'prediction', prediction: '1', comparison: '__prediction__ == 2', reply }),
    criticiseProgram: async () => ({ kind: 'judgement', accept: false, reply }),
    designTests: async ({ query }) => ({
      kind: 'tests',
      tests: [{ kind: 'assert', source: `assert f(${query}) == ${query}` }],
      reply,
    }),
    judgeTest: async () => ({ kind: 'judgement', accept: true, reply }),
    debugProgram: async ({ code, prompt }) => ({
      kind: 'program',
      code: `${code} debugged with ${prompt}`,
      rule: 'toy',
      reply,
    }),
    clarifyProblem: async () => ({ kind: 'clarification', statement: 'clearer', reply }),
    runPrograms: async ({ programs, tests }) => ({
      kind: 'rows',
      rows: programs.map(() =>
        tests.map((test) => ({ status: 'fail', test: test.kind === 'assert' ? test.source : '' })),
      ),
    }),
    comparePredictions: async ({ predictions }) => ({ kind: 'compared', equal: predictions.map(() => false) }),
    scoreSubmission: async ({ run, solution }) =>
      plan.record(run, { outcome: 'pass', detail: 'passes', finalStep: solution.finalStep, tokens: 2, requests: 1 }),
    ...own,
  };
}
