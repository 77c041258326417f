import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { Activities } from '../../src/activities/contract.ts';
import { createActivities } from '../../src/activities/index.ts';
import { watchRequestLimits } from '../../src/activities/request-limits.ts';
import { resolveEndpoint } from '../../src/models/endpoints.ts';
import { type ScriptedModel, startScriptedModel } from '../../src/models/scripted/server.ts';
import { openDataset } from '../../src/problems/dataset.ts';
import type { SweepSpec } from '../../src/spec/spec.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { sweepWorkflowId } from '../../src/temporal/ids.ts';
import { queuesFor } from '../../src/temporal/queues.ts';
import { runWorkers } from '../../src/temporal/worker.ts';
import { onInterrupt } from '../support/on-interrupt.ts';

/** `outage`: nobody listens. `rate-limit`: every request is answered by 429, without a hint. */
export const TROUBLES = ['outage', 'rate-limit'] as const;
export type Trouble = (typeof TROUBLES)[number];

export interface Recovery {
  trouble: Trouble;
  troubleMs: number;
  /** Completions per second before the trouble. */
  before: number;
  /** The same from the time on when at least 0.9 of it came for the first time. */
  after: number;
  /** From the end of the trouble to the beginning of a window of at least 0.9 of the throughput before; Infinity: not seen. */
  backAfterMs: number;
  /** Requests that were answered by 429; nobody counts those that find no server. */
  refused: number;
}

const SHARE = 0.9;
/** Problems open for each request that may be under way. */
const PROBLEMS_A_REQUEST = 2;

/**
 * A sweep of one request a problem on the real activities, store and limits, whose endpoint is in trouble for a while: how soon it is as fast as before.
 * The sandbox is left out, so that the endpoint is what everything waits for. Waits `patienceMs` for the throughput to come back.
 */
export async function measureRecovery(input: {
  temporal: TestWorkflowEnvironment;
  trouble: Trouble;
  troubleMs: number;
  latencyMs: number;
  requests: number;
  patienceMs: number;
  /** Over which throughput is measured. */
  windowMs: number;
  note: (line: string) => void;
}): Promise<Recovery> {
  const { temporal, trouble, troubleMs, latencyMs, requests, patienceMs, windowMs, note } = input;
  const home = mkdtempSync(join(tmpdir(), 'qualityflow-recovery-'));
  const remove = () => rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  const forget = onInterrupt(remove);
  const store = await openStore({ home });
  const limits = await watchRequestLimits(store, note);
  let model = await startScriptedModel({ latencyMs });
  const finished: number[] = [];
  const completions = () => [...finished, ...completionsOf(model)];
  try {
    const name = `recovery-${trouble}`;
    const running = await startSweep({ temporal, store, limits, name, url: model.url, requests });
    try {
      await until(() => completions().length >= requests, 60_000);
      const startMs = Date.now();
      await sleep(windowMs);
      const before = rate(completions(), startMs, startMs + windowMs);
      note(`${before.toFixed(1)} completions a second; ${trouble} for ${troubleMs / 1000} s`);

      let refused = 0;
      if (trouble === 'outage') {
        finished.push(...completionsOf(model));
        const { port } = new URL(model.url);
        await model.close();
        await sleep(troubleMs);
        model = await startScriptedModel({ latencyMs, port: Number(port) });
      } else {
        const sent = model.log().total;
        model.setFaults([{ kind: 'status', status: 429 }]);
        await sleep(troubleMs);
        refused = model.log().total - sent;
        model.setFaults([]);
      }
      const endMs = Date.now();
      let backAfterMs = Number.POSITIVE_INFINITY;
      while (Date.now() < endMs + patienceMs + windowMs && backAfterMs === Number.POSITIVE_INFINITY) {
        await sleep(250);
        const seen = completions();
        for (let fromMs = endMs; fromMs + windowMs <= Date.now(); fromMs += 250)
          if (rate(seen, fromMs, fromMs + windowMs) >= SHARE * before)
            backAfterMs = Math.min(backAfterMs, fromMs - endMs);
      }
      const fromMs = endMs + Math.min(backAfterMs, patienceMs);
      const after = rate(completions(), fromMs, fromMs + windowMs);
      return { trouble, troubleMs, before, after, backAfterMs, refused };
    } finally {
      await running.stop();
    }
  } finally {
    limits.stop();
    await model.close();
    await store.close();
    remove();
    forget();
  }
}

function completionsOf(model: ScriptedModel): number[] {
  return Object.values(model.log().bodies).flatMap(({ completed }) => completed);
}

/** A second. */
function rate(timesMs: readonly number[], fromMs: number, toMs: number): number {
  return (timesMs.filter((atMs) => atMs >= fromMs && atMs < toMs).length / (toMs - fromMs)) * 1000;
}

async function until(reached: () => boolean, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!reached()) {
    if (Date.now() > deadline) throw new Error('the sweep does not get going');
    await sleep(50);
  }
}

/** More runs than anybody waits for. */
async function startSweep({
  temporal,
  store,
  limits,
  name,
  url,
  requests,
}: {
  temporal: TestWorkflowEnvironment;
  store: Store;
  limits: Awaited<ReturnType<typeof watchRequestLimits>>;
  name: string;
  url: string;
  requests: number;
}): Promise<{ stop: () => Promise<void> }> {
  const { records } = await openDataset({ benchmark: 'mini', home: '.', download: false });
  const dataset = {
    sha256: 'mini',
    problem(taskId: string) {
      const record = records.get(taskId);
      if (record === undefined) throw new Error(`no task ${taskId}`);
      return record.problem();
    },
    hidden() {
      throw new Error('nothing is graded here');
    },
  };
  const tasks = [...records.keys()];
  const samples = 100;
  const spec: SweepSpec = {
    name,
    benchmark: 'mini',
    strategy: { kind: 'zero-shot' },
    model: {
      // An alias of its own: literal URLs share one queue.
      endpoint: name,
      name: 'scripted',
      api: 'chat',
      parameters: {},
      extraBody: {},
      maxTokens: {},
      requestTimeoutMs: 60_000,
    },
    samples,
    seed: 0,
    concurrency: { problems: PROBLEMS_A_REQUEST * requests, requests },
    budget: {},
    maxWaitMs: 86_400_000,
  };
  const endpoint = resolveEndpoint({ endpoint: url, env: {} });
  await store.createSweep({
    name,
    spec,
    specHash: name,
    datasetSha256: dataset.sha256,
    scripted: false,
    endpointIdentity: endpoint.identity,
    planned: tasks.length * samples,
    tasks,
  });
  await store.setSweepState(name, 'running');
  const queues = { ...queuesFor(name), control: `${name}-control`, sandbox: `${name}-sandbox` };
  const activities: Activities = {
    ...createActivities({
      store,
      client: temporal.client,
      reportRequest: limits.report,
      sandbox: () => Promise.reject(new Error('nothing is run here')),
      dataset: async () => dataset,
      endpoint: () => endpoint,
    }),
    scoreSubmission: async ({ run, solution }) => {
      const summary = { outcome: 'pass', detail: '', finalStep: solution.finalStep, tokens: 0, requests: 0 } as const;
      const row = { ...summary, run, trail: [], submission: null, fingerprint: null };
      await store.recordOutcome({ ...row, recordedAt: new Date().toISOString() });
      return summary;
    },
  };
  const workers = await runWorkers({
    connection: temporal.nativeConnection,
    namespace: temporal.namespace ?? 'default',
    roles: ['control', 'model', 'sandbox'],
    queues,
    activities,
    models: [name],
    limits: { cachedWorkflows: 300, storeActivities: 50, modelLimit: limits.of, sandboxJobs: 4 },
    shutdownGraceMs: 1000,
  });
  const handle = await temporal.client.workflow.start('runSweep', {
    workflowId: sweepWorkflowId(name),
    taskQueue: queues.control,
    args: [{ sweep: name, queues }],
  });
  return {
    async stop() {
      await handle.terminate();
      workers.stop();
      await workers.finished;
    },
  };
}
