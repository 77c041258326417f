import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { startTemporal } from '../../test/support/temporal.ts';
import type { Activities, OutcomeSummary, ProblemInput } from '../activities/contract.ts';
import type { Problem } from '../problems/problem.ts';
import type { solveProblem } from '../workflows/solve-problem.ts';
import { problemWorkflowId } from './problem-id.ts';
import { modelQueue } from './queues.ts';
import { ROLES, runWorkers } from './worker.ts';

const PROBLEM: Problem = {
  taskId: 'toy',
  kind: 'function',
  entryPoint: 'f',
  form: 'description',
  statement: 'Return 1.',
  preamble: '',
  visibleTests: [],
};
const SUMMARY: OutcomeSummary = { outcome: 'pass', detail: '', finalStep: 'generated', tokens: 1, requests: 1 };
const REPLY = { key: 'k', tokens: { prompt: 1, completion: 1 }, reused: false, prompt: '', reply: '' };

describe('the three roles in one process', { timeout: 120_000 }, () => {
  let temporal: TestWorkflowEnvironment;
  before(async () => {
    temporal = await startTemporal();
  });
  after(() => temporal.teardown());

  test('serve a problem over three queues, with no more requests at once than the limit of the moment, and stop when asked', async () => {
    const endpoint = `toy-${process.pid}`;
    const queues = { control: `${endpoint}-control`, model: modelQueue(endpoint), sandbox: `${endpoint}-sandbox` };
    let limit = 1;
    let open = 0;
    const most: Record<number, number> = {};
    const activities: Partial<Activities> = {
      loadProblem: async () => PROBLEM,
      async generateProgram() {
        open += 1;
        most[limit] = Math.max(most[limit] ?? 0, open);
        await new Promise((resolve) => setTimeout(resolve, 200));
        open -= 1;
        return { kind: 'program', code: 'def f():\n    return 1\n', rule: 'whole', reply: REPLY };
      },
      scoreSubmission: async () => SUMMARY,
    };
    const workers = await runWorkers({
      connection: temporal.nativeConnection,
      namespace: temporal.namespace ?? 'default',
      roles: ROLES,
      queues,
      activities,
      models: [endpoint],
      limits: { cachedWorkflows: 50, storeActivities: 10, sandboxJobs: 2, modelLimit: () => limit },
      shutdownGraceMs: 2000,
    });

    const solve = (sample: number) =>
      temporal.client.workflow.execute<typeof solveProblem>('solveProblem', {
        workflowId: problemWorkflowId({ sweep: endpoint, taskId: 'toy', sample }),
        taskQueue: queues.control,
        args: [inputOf(sample, queues)],
      });
    const batch = (from: number) => Promise.all([0, 1, 2, 3].map((index) => solve(from + index)));
    for (const outcome of await batch(0)) assert.deepEqual(outcome, SUMMARY);
    limit = 3;
    await batch(4);
    assert.equal(most[1], 1);
    assert.ok(most[3] === 2 || most[3] === 3, `${most[3]} at once`);

    workers.stop();
    await workers.finished;
  });
});

function inputOf(sample: number, queues: ProblemInput['queues']): ProblemInput {
  return {
    run: { sweep: 'toy', taskId: 'toy', sample, attempt: 1 },
    benchmark: 'mini',
    strategy: { kind: 'zero-shot' },
    model: {
      endpoint: 'toy',
      name: 'm',
      api: 'chat',
      parameters: {},
      extraBody: {},
      maxTokens: {},
      requestTimeoutMs: 10_000,
    },
    endpointIdentity: 'toy',
    seed: 0,
    maxWaitMs: 60_000,
    queues,
  };
}
