/** What slowness and loss cost: a model that takes 2 s, a killed worker, a machine without idle time, and memory over thousands of problems. */
import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { connectClient } from '../src/temporal/connection.ts';
import { devStatus } from '../src/temporal/embedded/dev.ts';
import type { Project } from '../test/support/cli.ts';
import { type BenchOptions, interleaved, median } from './figure.ts';
import {
  type Load,
  outcomeTimes,
  runSweep,
  steadyRate,
  until,
  withModel,
  withProject,
  withStoreOf,
} from './product.ts';
import { runInspect } from './reference/inspect-ai.ts';

const SLOW_MODEL_MS = 2000;
const NAME = 'bench';

export async function latency(options: BenchOptions): Promise<void> {
  await throughput(options, { requests: 20, atLeast: 8 });
  await throughput(options, { requests: 100, atLeast: 12 });
  await killedWorker(options);
  await longSweep(options);
}

/** Ends a second in the middle of the sweep, whole product with its real sandbox; `inspect_ai` with the same number of connections. */
async function throughput(
  { rounds, scale, wanted, report, note }: BenchOptions,
  { requests, atLeast }: { requests: number; atLeast: number },
): Promise<void> {
  const figure = `2 s model, ${requests} slots, in memory`;
  if (!wanted(figure)) return;
  const load: Load = { ...halfAMinute(requests * scale), requests, problems: requests + 20 };
  await withModel(SLOW_MODEL_MS, async (model) => {
    const medianOf = await interleaved(rounds, {
      inspect_ai: async () => steadyRate((await runInspect({ load, model, note })).ends),
      ours: () =>
        withProject('memory', async (project) => {
          await runSweep({ project, name: NAME, load, model });
          return steadyRate(await outcomeTimes(project, NAME));
        }),
    });
    const [value, reference] = [medianOf('ours'), medianOf('inspect_ai')];
    note(`${figure}: ${value.toFixed(1)}/s beside ${reference.toFixed(1)}/s`);
    report({ figure, value, unit: 'problems/s', reference, ratio: reference / value, mark: { of: 'value', atLeast } });
  });
}

/** Samples for which ideal slots of the slow model would take about 40 s. */
function halfAMinute(requests: number): { tasks: number; samples: number } {
  const runs = Math.max(20, Math.round((requests * 40_000) / SLOW_MODEL_MS));
  const samples = Math.ceil(runs / 164);
  return { tasks: Math.ceil(runs / samples), samples };
}

/** How much later than usual the last of the problems ends that a killed worker had open. */
async function killedWorker({ rounds, scale, wanted, report, note }: BenchOptions): Promise<void> {
  const figure = 'kill -9 of the worker, latest problem';
  if (!wanted(figure)) return;
  const load: Load = { tasks: Math.max(60, Math.round(164 * scale)), samples: 1, requests: 20, problems: 20 };
  const late: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const seconds = await withModel(SLOW_MODEL_MS, (model) =>
      withProject('file', async (project) => {
        const ended = runSweep({ project, name: NAME, load, model });
        const killedAt = await Promise.race([ended.then(() => undefined), killWorkerAt(project, load.tasks / 2)]);
        if (killedAt === undefined) throw new Error('the sweep ended before its worker could be killed');
        await ended;
        return lateness(project, killedAt);
      }),
    );
    note(`${figure}: ${seconds.toFixed(1)} s late`);
    late.push(seconds);
  }
  report({
    figure,
    value: median(late),
    unit: 's late',
    reference: null,
    ratio: null,
    mark: { of: 'value', atMost: 15 },
  });
}

/** Kills the worker once so many runs have ended; gives the time in ms since 1970. */
async function killWorkerAt(project: Project, ended: number): Promise<number> {
  await until(async () => ((await finished(project)) >= ended ? true : undefined));
  const pid = (await processes(project)).worker;
  if (pid === undefined) throw new Error('there is no worker');
  process.kill(pid, 'SIGKILL');
  return Date.now();
}

async function lateness(project: Project, killedAt: number): Promise<number> {
  const spans = await withClient(project, async (client) => {
    const found: { from: number; to: number }[] = [];
    for await (const { startTime, closeTime } of client.workflow.list({ query: `WorkflowType="solveProblem"` }))
      if (closeTime !== undefined) found.push({ from: startTime.getTime(), to: closeTime.getTime() });
    return found;
  });
  const undisturbed = median(spans.filter(({ to }) => to < killedAt).map(({ from, to }) => to - from));
  const hit = spans.filter(({ from, to }) => from < killedAt && to >= killedAt);
  return (Math.max(...hit.map(({ from, to }) => to - from)) - undisturbed) / 1000;
}

/** A file-backed sweep with a model that answers at once, so that both processors are busy throughout. */
async function longSweep({ scale, wanted, report, note }: BenchOptions): Promise<void> {
  const tasks = Math.max(5, Math.round(125 * scale));
  const load: Load = { tasks, samples: 16, requests: 20, problems: 50 };
  const runs = load.tasks * load.samples;
  const names = {
    timeouts: `heartbeat timeouts in ${runs} problems`,
    worker: `memory of the worker, 10 % to 100 % of ${runs} problems`,
    server: `memory of the server, 10 % to 100 % of ${runs} problems`,
  };
  if (!Object.values(names).some(wanted)) return;
  await withModel(0, (model) =>
    withProject('file', async (project) => {
      const ended = runSweep({ project, name: NAME, load, model });
      let over = false;
      void ended.finally(() => (over = true)).catch(() => undefined);
      const early = await until(async () =>
        over || (await finished(project)) >= runs / 10 ? await memory(project) : undefined,
      );
      await ended;
      const late = await memory(project);
      const timeouts = await heartbeatTimeouts(project);
      note(`${runs} problems: ${JSON.stringify({ early, late, timeouts })}`);
      const alone = { reference: null, ratio: null };
      report({
        ...alone,
        figure: names.timeouts,
        value: timeouts,
        unit: 'time-outs',
        mark: { of: 'value', atMost: 0 },
      });
      for (const who of ['worker', 'server'] as const) {
        const [value, reference] = [late[who], early[who]];
        report({
          figure: names[who],
          value,
          unit: 'MiB',
          reference,
          ratio: value / reference,
          mark: { of: 'ratio', atMost: 1.25 },
        });
      }
    }),
  );
}

/** Attempts of any activity of any problem that ended because no sign of life had come. */
async function heartbeatTimeouts(project: Project): Promise<number> {
  return withClient(project, async (client) => {
    let timeouts = 0;
    for await (const { workflowId, runId } of client.workflow.list({ query: `WorkflowType="solveProblem"` })) {
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      for (const event of events ?? []) {
        // An attempt that is tried again leaves its failure with the next one's start.
        const failure =
          event.activityTaskStartedEventAttributes?.lastFailure ?? event.activityTaskTimedOutEventAttributes?.failure;
        if (failure?.timeoutFailureInfo) timeouts += 1;
      }
    }
    return timeouts;
  });
}

/** Resident, in MiB. */
async function memory(project: Project): Promise<{ worker: number; server: number }> {
  const { worker, temporal } = await processes(project);
  const of = (pid: number | undefined) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  };
  return { worker: of(worker), server: of(temporal) };
}

async function processes(project: Project): Promise<Record<string, number>> {
  const state = await devStatus({ home: project.home });
  return Object.fromEntries(Object.entries(state?.processes ?? {}).map(([name, { pid }]) => [name, pid]));
}

async function finished(project: Project): Promise<number> {
  const counts = await withStoreOf(project, (store) => store.countOutcomes(NAME));
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

async function withClient<T>(project: Project, work: (client: Client) => Promise<T>): Promise<T> {
  const state = await devStatus({ home: project.home });
  if (state === undefined) throw new Error('no supervisor runs');
  const { address, namespace } = state;
  const { client, connection } = await connectClient({ connectionOptions: { address }, namespace });
  try {
    return await work(client);
  } finally {
    await connection.close();
  }
}
