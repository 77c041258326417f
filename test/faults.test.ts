import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment, type TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Activities, ProgramReply } from '../src/activities/contract.ts';
import type { Dataset, Dependencies } from '../src/activities/dependencies.ts';
import { createActivities } from '../src/activities/index.ts';
import { resolveEndpoint } from '../src/models/endpoints.ts';
import type { ModelSettings } from '../src/models/model.ts';
import type { FaultPlanInput } from '../src/models/scripted/faults.ts';
import { type ScriptedModel, startScriptedModel } from '../src/models/scripted/server.ts';
import { openDataset } from '../src/problems/dataset.ts';
import type { SweepSpec } from '../src/spec/spec.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { sweepWorkflowId } from '../src/temporal/ids.ts';
import { queuesFor } from '../src/temporal/queues.ts';
import { runWorkers } from '../src/temporal/worker.ts';
import { startTemporal } from './support/temporal.ts';

const home = mkdtempSync(join(tmpdir(), 'qualityflow-faults-'));
const { records } = await openDataset({ benchmark: 'mini', home, download: false });
const dataset: Dataset = {
  sha256: 'mini',
  problem(taskId) {
    const record = records.get(taskId);
    assert.ok(record, taskId);
    return record.problem();
  },
  hidden() {
    throw new Error('no test here grades');
  },
};

let store: Store;
before(async () => {
  store = await openStore({ home });
});
after(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

let sweeps = 0;

/** A sweep of its own in the store, on a model of its own with these faults: other requests, other keys. */
async function sweepOn(faults: FaultPlanInput, { tasks = ['mini/flatten'], requestTimeoutMs = 5000 } = {}) {
  const server = await startScriptedModel({ faults });
  const name = `faults-${++sweeps}`;
  const model: ModelSettings = {
    endpoint: server.url,
    name: 'scripted',
    api: 'chat',
    parameters: {},
    extraBody: {},
    maxTokens: {},
    requestTimeoutMs,
  };
  const spec: SweepSpec = {
    name,
    benchmark: 'mini',
    tasks,
    strategy: { kind: 'zero-shot' },
    model,
    samples: 1,
    seed: 0,
    concurrency: { problems: 50, requests: 20 },
    budget: {},
    maxWaitMs: 86_400_000,
  };
  const { identity } = resolveEndpoint({ endpoint: server.url, env: {} });
  await store.createSweep({
    name,
    spec,
    specHash: name,
    datasetSha256: dataset.sha256,
    scripted: false,
    endpointIdentity: identity,
    planned: tasks.length,
    tasks,
  });
  await store.setSweepState(name, 'running');
  return { server, name, model, identity };
}

/** The activities of this process on the store, with everything else left out. */
function dependencies(client: Client): Dependencies {
  return {
    store,
    client,
    reportRequest: () => {},
    sandbox: () => Promise.reject(new Error('no test here runs a program')),
    dataset: async () => dataset,
    endpoint: (endpoint) => resolveEndpoint({ endpoint, env: {} }),
  };
}

/** Never connected: a model activity needs no Temporal. */
const nowhere = new Client({ connection: Connection.lazy() });

/** How one attempt of `generateProgram` ended. */
type End = ProgramReply | { kind: 'thrown'; failure: ApplicationFailure };

/** Attempts of one activity of one sweep, as Temporal would make them one after the other. */
async function attempts(
  faults: FaultPlanInput,
  count: number,
  options: { requestTimeoutMs?: number } = {},
): Promise<{ ends: End[]; requests: number; name: string; server: ScriptedModel }> {
  const { server, name, model, identity } = await sweepOn(faults, options);
  const ends: End[] = [];
  try {
    for (let attempt = 1; attempt <= count; attempt += 1) {
      const environment = new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
      const { generateProgram } = createActivities(dependencies(nowhere));
      const context = {
        run: { sweep: name, taskId: 'mini/flatten', sample: 0, attempt: 1 },
        step: 'generate/0',
        model,
        endpointIdentity: identity,
        seed: 0,
        retry: 0,
      };
      const input = { context, problem: dataset.problem('mini/flatten'), prompt: 0 };
      const attempted: Promise<ProgramReply> = environment.run(generateProgram, input);
      ends.push(
        await attempted.catch((failure: unknown) => {
          assert.ok(failure instanceof ApplicationFailure, String(failure));
          return { kind: 'thrown' as const, failure };
        }),
      );
    }
    return { ends, requests: server.log().total, name, server };
  } finally {
    await server.close();
  }
}

describe('a failure that passes is one request an attempt, and then the reply', () => {
  const cases: [name: string, fault: FaultPlanInput[number], type: string, waitMs?: [number, number]][] = [
    [
      '429 with Retry-After in seconds',
      { kind: 'status', status: 429, retryAfter: { as: 'seconds', ms: 7000 } },
      'rate_limited',
      [7000, 7000],
    ],
    [
      '429 with Retry-After as a date',
      { kind: 'status', status: 429, retryAfter: { as: 'date', ms: 7000 } },
      'rate_limited',
      [5000, 8000],
    ],
    [
      '429 with retry-after-ms',
      { kind: 'status', status: 429, retryAfter: { as: 'ms', ms: 61_234 } },
      'rate_limited',
      [61_234, 61_234],
    ],
    [
      '429 with a hint shorter than the usual backoff, which holds then',
      { kind: 'status', status: 429, retryAfter: { as: 'ms', ms: 120 } },
      'rate_limited',
      [2000, 15_000],
    ],
    ['429 without a hint', { kind: 'status', status: 429 }, 'rate_limited'],
    ['429 inside HTTP 200', { kind: 'error-in-200', status: 429 }, 'rate_limited'],
    ['429 inside choices[0]', { kind: 'error-in-choice', status: 429 }, 'rate_limited'],
    ...[408, 409, 425, 498, 500, 502, 503, 504, 529].map((status): [string, FaultPlanInput[number], string] => [
      `HTTP ${status}`,
      { kind: 'status', status },
      'unavailable',
    ]),
    [
      '503 with Retry-After',
      { kind: 'status', status: 503, retryAfter: { as: 'seconds', ms: 30_000 } },
      'unavailable',
      [30_000, 30_000],
    ],
    ['an error 500 inside HTTP 200', { kind: 'error-in-200', status: 500 }, 'unavailable'],
    ['no answer', { kind: 'hang' }, 'unavailable'],
    ['a body that never ends', { kind: 'hang-body' }, 'unavailable'],
    ['a body cut off', { kind: 'cut' }, 'unavailable'],
    ['a connection reset', { kind: 'reset' }, 'unavailable'],
    ['garbage', { kind: 'garbage' }, 'malformed'],
    ['a web page', { kind: 'html' }, 'malformed'],
    ['an empty body', { kind: 'empty-body' }, 'malformed'],
    ['no choices at all', { kind: 'choices-missing' }, 'malformed'],
  ];
  for (const [name, fault, type, waitMs] of cases) {
    it(name, async () => {
      const {
        ends,
        requests,
        name: sweep,
      } = await attempts([{ ...fault, firstArrivals: 2 }], 4, {
        requestTimeoutMs: fault.kind === 'hang' || fault.kind === 'hang-body' ? 400 : 5000,
      });
      for (const end of ends.slice(0, 2)) {
        assert.ok(end.kind === 'thrown', JSON.stringify(end));
        assert.deepEqual([end.failure.type, end.failure.nonRetryable ?? false], [`Model:${type}`, false]);
        const delay = Number(end.failure.nextRetryDelay ?? Number.NaN);
        if (waitMs === undefined) assert.ok(Number.isNaN(delay), String(delay));
        else assert.ok(delay >= waitMs[0] && delay <= waitMs[1], String(delay));
      }
      assert.deepEqual(
        ends.slice(2).map(({ kind }) => kind),
        ['program', 'program'],
      );
      assert.equal(requests, 3, 'two failures and one reply, which the fourth attempt reuses');
      const { open, settled, possiblyCharged } = await store.spent(sweep);
      const turnedAway = type === 'rate_limited' || [409, 425, 498, 503, 529].includes(fault.status ?? 0);
      assert.equal(possiblyCharged.requests, turnedAway ? 0 : 2);
      assert.equal(open.tokens, 0);
      const used = await store.usage({ sweep });
      assert.equal(settled.tokens, used.prompt + used.completion);
    });
  }
});

describe('what no retry can mend is one request', () => {
  it('a wait beyond ten minutes is handed to the workflow, with its end', async () => {
    const { ends, requests } = await attempts(
      [{ kind: 'status', status: 429, retryAfter: { as: 'seconds', ms: 3_600_000 } }],
      1,
    );
    const [end] = ends;
    assert.ok(end?.kind === 'held' && end.reason === 'paced', JSON.stringify(end));
    const inMs = Date.parse(end.until ?? '') - Date.now();
    assert.ok(inMs > 3_500_000 && inMs <= 3_600_000, String(inMs));
    assert.equal(requests, 1);
  });

  const permanent: [name: string, fault: FaultPlanInput[number]][] = [
    ['401', { kind: 'status', status: 401 }],
    ['402', { kind: 'status', status: 402 }],
    ['403', { kind: 'status', status: 403 }],
    ['404, unknown model', { kind: 'status', status: 404 }],
    ['429, insufficient_quota', { kind: 'status', status: 429, code: 'insufficient_quota' }],
    ['401 inside HTTP 200', { kind: 'error-in-200', status: 401 }],
  ];
  for (const [name, fault] of permanent) {
    it(`${name} blocks the sweep, which then sends nothing`, async () => {
      const startedAt = performance.now();
      const { ends, requests, name: sweep } = await attempts([fault], 4);
      for (const end of ends) assert.ok(end.kind === 'held' && end.reason === 'blocked', JSON.stringify(end));
      assert.equal(requests, 1);
      const plan = await store.getPlan(sweep);
      assert.equal(plan?.state, 'blocked');
      assert.notEqual(plan?.stateReason, '');
      assert.ok(performance.now() - startedAt < 2000);
    });
  }

  const refused: [name: string, fault: FaultPlanInput[number], reason: string][] = [
    ['400', { kind: 'status', status: 400 }, 'rejected'],
    ['422', { kind: 'status', status: 422 }, 'rejected'],
    ['400, content policy', { kind: 'status', status: 400, code: 'content_policy_violation' }, 'rejected'],
    ['403, one flagged prompt', { kind: 'status', status: 403, message: 'The input was flagged.' }, 'rejected'],
    ['400, too long', { kind: 'status', status: 400, code: 'context_length_exceeded' }, 'context_too_long'],
  ];
  for (const [name, fault, reason] of refused) {
    it(`${name} concerns this request alone`, async () => {
      const { ends, requests, name: sweep } = await attempts([fault], 1);
      const [end] = ends;
      assert.ok(end?.kind === 'unusable', JSON.stringify(end));
      assert.deepEqual([end.reason, requests], [reason, 1]);
      assert.equal((await store.getPlan(sweep))?.state, 'running');
    });
  }
});

describe('a completion of no use is data, stored, and never asked for again', () => {
  const cases: [fault: FaultPlanInput[number], expected: string][] = [
    [{ kind: 'no-choices' }, 'empty'],
    [{ kind: 'no-choices-filtered' }, 'refused'],
    [{ kind: 'content-null' }, 'empty'],
    [{ kind: 'content-missing' }, 'empty'],
    [{ kind: 'refusal' }, 'refused'],
    [{ kind: 'content-filter' }, 'refused'],
    [{ kind: 'truncated' }, 'truncated'],
    [{ kind: 'reasoning-only' }, 'no_final_answer'],
    [{ kind: 'unclosed-thinking' }, 'no_final_answer'],
    [{ kind: 'tool-calls' }, 'empty'],
    [{ kind: 'no-tool-calls' }, 'empty'],
    ...['eos', 'abort', '', null].map((finishReason): [FaultPlanInput[number], string] => [
      { kind: 'finish-reason', finishReason },
      'program',
    ]),
    [{ kind: 'no-usage' }, 'program'],
    [{ kind: 'slow', waitMs: 300 }, 'program'],
  ];
  for (const [fault, expected] of cases) {
    it(`${JSON.stringify(fault)} → ${expected}`, async () => {
      const { ends, requests } = await attempts([fault], 2);
      assert.equal(requests, 1);
      for (const end of ends) {
        assert.equal(end.kind === 'unusable' ? end.reason : end.kind, expected, JSON.stringify(end));
        assert.ok('reply' in end && end.reply !== undefined, 'the reply is stored');
        assert.ok(Number.isSafeInteger(end.reply.tokens.prompt) && Number.isSafeInteger(end.reply.tokens.completion));
      }
    });
  }

  it('max_tokens refused: asked again with max_completion_tokens; that one refused as well: rejected', async () => {
    const first = await attempts([{ kind: 'refuses-max-tokens' }], 2);
    assert.deepEqual([first.ends.map(({ kind }) => kind), first.requests], [['program', 'program'], 2]);
    const both = await attempts([{ kind: 'refuses-max-tokens' }, { kind: 'refuses-max-completion-tokens' }], 1);
    assert.deepEqual([both.ends[0]?.kind, both.requests], ['unusable', 2]);
  });
});

describe('poisoned problems on a real Temporal server', { timeout: 120_000 }, () => {
  let temporal: TestWorkflowEnvironment;
  before(async () => {
    temporal = await startTemporal();
  });
  after(() => temporal.teardown());

  it('never stop the others, and cost a bounded number of requests', async () => {
    const poisons: Record<string, FaultPlanInput[number]> = {
      word_counts: { kind: 'refusal' },
      running_means: { kind: 'content-null' },
      ring_area: { kind: 'status', status: 400, code: 'content_policy_violation' },
      chunks: { kind: 'reasoning-only' },
      pairs_with_sum: { kind: 'truncated' },
      is_balanced: { kind: 'no-choices' },
      csv_field: { kind: 'tool-calls' },
      // This one Temporal tries again for a quarter of an hour.
      flatten: { kind: 'status', status: 503 },
    };
    const poisoned = Object.keys(poisons).map(taskOf);
    const healthy = ['mini/initials', 'mini/sum-lines', 'mini/power-digits', 'mini/bill'];
    const faults = Object.entries(poisons).map(([matching, fault]) => ({ ...fault, matching }));
    const { server, name } = await sweepOn(faults, { tasks: [...poisoned, ...healthy] });
    const queues = { ...queuesFor(server.url), control: `${name}-control`, sandbox: `${name}-sandbox` };
    const activities: Activities = {
      ...createActivities(dependencies(temporal.client)),
      scoreSubmission: async ({ run, solution }) => {
        const summary = { outcome: 'pass', detail: '', finalStep: solution.finalStep, tokens: 0, requests: 0 } as const;
        const row = { ...summary, run, trail: [], submission: null, fingerprint: null };
        await store.recordOutcome({ ...row, recordedAt: new Date().toISOString() });
        return summary;
      },
    };
    const workers = await runWorkers({
      connection: temporal.nativeConnection,
      namespace: 'default',
      roles: ['control', 'model', 'sandbox'],
      queues,
      activities,
      models: [server.url],
      limits: { cachedWorkflows: 50, storeActivities: 20, modelLimit: () => 20, sandboxJobs: 4 },
      shutdownGraceMs: 1000,
    });
    try {
      const handle = await temporal.client.workflow.start('runSweep', {
        workflowId: sweepWorkflowId(name),
        taskQueue: queues.control,
        args: [{ sweep: name, queues }],
      });
      const others = poisoned.length + healthy.length - 1;
      const endedBy = Date.now() + 60_000;
      while ((await outcomesOf(name)).size < others) {
        assert.ok(Date.now() < endedBy, JSON.stringify([...(await outcomesOf(name))]));
        await new Promise((wake) => setTimeout(wake, 100));
      }
      const ended = await outcomesOf(name);
      for (const taskId of healthy) assert.equal(ended.get(taskId), 'pass', taskId);
      assert.equal(ended.get('mini/word-counts'), 'refused');
      assert.equal(ended.get('mini/pairs-with-sum'), 'truncated');
      for (const taskId of poisoned) assert.notEqual(ended.get(taskId), 'pass', taskId);
      assert.equal(ended.has('mini/flatten'), false, 'still being tried');

      await handle.cancel();
      await handle.result().catch(() => undefined);
      assert.equal((await outcomesOf(name)).get('mini/flatten'), 'cancelled');
      // One retry of an unusable reply is another body; Temporal's retries of 503 come 2, 4, 8 … s apart.
      const counts = Object.values(server.log().bodies);
      assert.ok(counts.every(({ arrivals, faults: played }) => arrivals.length === 1 || played.includes('status')));
      assert.ok(counts.length <= healthy.length + 2 * poisoned.length, String(counts.length));
      assert.ok(Math.max(...counts.map(({ arrivals }) => arrivals.length)) <= 7);
    } finally {
      workers.stop();
      await workers.finished;
      await server.close();
    }
  });
});

function taskOf(entryPoint: string): string {
  return `mini/${entryPoint.replaceAll('_', '-')}`;
}

async function outcomesOf(sweep: string): Promise<Map<string, string>> {
  const outcomes = new Map<string, string>();
  for await (const { run, outcome } of store.outcomes(sweep)) outcomes.set(run.taskId, outcome);
  return outcomes;
}
