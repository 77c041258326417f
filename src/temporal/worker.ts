/** The workers of one process: up to three roles on one connection. */
import { DefaultLogger, type LogLevel, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Activities, Queues } from '../activities/contract.ts';
import { AdaptiveSlots } from './adaptive-slots.ts';
import { FORCE_AFTER_MS } from './drain.ts';
import { modelQueue } from './queues.ts';
import { workflowBundle } from './workflow-bundle.ts';

export const ROLES = ['control', 'model', 'sandbox'] as const;
/** `control` runs workflows and the store's activities, `model` sends requests, `sandbox` runs programs and needs Docker. */
export type Role = (typeof ROLES)[number];

export interface WorkerLimits {
  /** Workflows kept in memory; each costs about 40 KB, more while it holds large values. */
  cachedWorkflows: number;
  /** Store activities at once. */
  storeActivities: number;
  /** Model requests at once to this endpoint, asked anew for every one. */
  modelLimit: (endpoint: string) => number;
  /** Sandbox jobs at once. */
  sandboxJobs: number;
}

export interface RunWorkersOptions {
  connection: NativeConnection;
  namespace: string;
  roles: readonly Role[];
  /** Where bundled workflows are kept from start to start; without it they are bundled anew. */
  bundleFolder?: string | undefined;
  /** Where control and sandbox listen. */
  queues: Pick<Queues, 'control' | 'sandbox'>;
  activities: Partial<Activities>;
  /** Endpoints (aliases, or any one literal URL for the queue of URLs) whose model queues are served. */
  models: readonly string[];
  limits: WorkerLimits;
  /** How long running activities may go on after a stop was asked for, in ms. */
  shutdownGraceMs: number;
  identity?: string | undefined;
}

export interface RunningWorkers {
  /** Settles when all workers have stopped; rejects, after stopping the others, when one fails. */
  finished: Promise<void>;
  /** Asks all to stop: no new work, running activities get their grace. */
  stop: () => void;
}

/** Starts the workers. SIGINT and SIGTERM stop them too: Temporal's runtime listens for those itself. */
export async function runWorkers(options: RunWorkersOptions): Promise<RunningWorkers> {
  const { connection, namespace, queues, activities, limits, shutdownGraceMs, identity } = options;
  const common = {
    connection,
    namespace,
    activities,
    shutdownGraceTime: shutdownGraceMs,
    shutdownForceTime: shutdownGraceMs + FORCE_AFTER_MS,
    /** Heartbeats are throttled to 0.8 of their timeout by default, which leaves a busy process too little. */
    maxHeartbeatThrottleInterval: '1s',
    ...(identity === undefined ? {} : { identity }),
  } as const;

  const create = async (role: Role): Promise<Worker[]> => {
    switch (role) {
      case 'control':
        return [
          await Worker.create({
            ...common,
            taskQueue: queues.control,
            workflowBundle: await workflowBundle(options.bundleFolder),
            maxCachedWorkflows: limits.cachedWorkflows,
            maxConcurrentActivityTaskExecutions: limits.storeActivities,
            stickyQueueScheduleToStartTimeout: '2s',
          }),
        ];
      case 'model':
        return Promise.all(
          [...new Map(options.models.map((endpoint) => [modelQueue(endpoint), endpoint]))].map(
            ([taskQueue, endpoint]) =>
              Worker.create({ ...common, taskQueue, tuner: modelTuner(() => limits.modelLimit(endpoint)) }),
          ),
        );
      case 'sandbox':
        return [
          await Worker.create({
            ...common,
            taskQueue: queues.sandbox,
            maxConcurrentActivityTaskExecutions: limits.sandboxJobs,
          }),
        ];
    }
  };

  const workers = (await Promise.all([...new Set(options.roles)].map(create))).flat();
  const stop = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const runs = workers.map((worker) =>
    worker.run().catch((error: unknown) => {
      stop();
      throw error;
    }),
  );
  return { finished: allSettledThenThrow(runs), stop };
}

function modelTuner(limit: () => number) {
  const unused = { type: 'fixed-size', numSlots: 1 } as const;
  return {
    activityTaskSlotSupplier: new AdaptiveSlots(limit),
    workflowTaskSlotSupplier: unused,
    localActivityTaskSlotSupplier: unused,
    nexusTaskSlotSupplier: unused,
  };
}

async function allSettledThenThrow(runs: Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(runs)) if (end.status === 'rejected') throw end.reason;
}

/**
 * Sends the SDK's log, native part included, to `write` one JSON line an entry. Once per process, before any connection.
 */
export function installRuntime({ level, write }: { level: LogLevel; write: (line: string) => void }): void {
  Runtime.install({
    logger: new DefaultLogger(level, ({ level: entryLevel, message, timestampNanos, meta }) => {
      const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
      write(JSON.stringify({ time, level: entryLevel, message, ...printable(meta) }));
    }),
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
  });
}

/** Errors have no enumerable fields: as they are they would print as `{}`. */
function printable(meta: Record<string | symbol, unknown> | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(meta ?? {}).map(([key, value]) => [
      key,
      value instanceof Error ? (value.stack ?? value.message) : typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}
