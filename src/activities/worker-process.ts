import { availableParallelism } from 'node:os';
import { expectedFolder } from '../grading/expected-folder.ts';
import { requireSoundGrader } from '../grading/known-pair.ts';
import { resolveEndpoint } from '../models/endpoints.ts';
import { openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { openHiddenTests } from '../problems/hidden.ts';
import { connectDocker } from '../sandbox/docker-engine.ts';
import { createDockerSandbox } from '../sandbox/docker-sandbox.ts';
import { ensureSandboxImage } from '../sandbox/image.ts';
import { chosenRuntime } from '../sandbox/runtime.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { connectClient, type Env, externalTemporal, temporalSettings } from '../temporal/connection.ts';
import { DRAIN_MS } from '../temporal/drain.ts';
import { bundleFolder } from '../temporal/embedded/home.ts';
import { listening } from '../temporal/listening.ts';
import { CONTROL_QUEUE, SANDBOX_QUEUE } from '../temporal/queues.ts';
import { type Role, type RunningWorkers, runWorkers } from '../temporal/worker.ts';
import { connectWorkers } from '../temporal/worker-connection.ts';
import { createActivities } from './index.ts';
import { watchRequestLimits } from './request-limits.ts';

/** Every use of the store looks, too: this is how soon an idle worker notices. */
const STORE_LOOK_MS = 1000;
const SERVER_START_MS = 60_000;

export interface WorkerProcessOptions {
  roles: readonly Role[];
  env: Env;
  /** The state folder. */
  home: string;
  /** Of the embedded server; an environment that names a cluster wins. */
  address: string;
  namespace: string;
  scriptedUrl: string | undefined;
  /** Where notes go; the supervisor keeps what a worker prints. */
  log?: ((line: string) => void) | undefined;
}

/** Makes every adapter once and serves the queues of the roles until stopped. */
export async function startWorkerProcess({
  roles,
  env,
  home,
  address,
  namespace,
  scriptedUrl,
  log = console.error,
}: WorkerProcessOptions): Promise<RunningWorkers> {
  const store = await openStore({ home });
  let opened: Promise<Sandbox> | undefined;
  const openSandbox = async () => {
    const docker = connectDocker({ env });
    const runtime = await chosenRuntime({ docker, env });
    const { imageId } = await ensureSandboxImage({ docker, home, log });
    const sandbox = await createDockerSandbox({ docker, imageId, runtime, log });
    try {
      await requireSoundGrader({ sandbox });
      return sandbox;
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  };
  const sandbox = () => {
    // One that could not be opened is tried again by the next activity.
    opened ??= openSandbox().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  // The first container starts while the rest of this process does: after a kill, problems wait for both.
  if (roles.includes('sandbox')) void warm(sandbox);
  const settings = temporalSettings({ env, address, namespace });
  // The embedded server starts beside this process, or starts again.
  if (externalTemporal(env) === undefined) await listening(address, SERVER_START_MS);
  const { client, connection: clientConnection } = await connectClient(settings);
  const connection = await connectWorkers(settings);
  const limits = await watchRequestLimits(store, log);

  const activities = createActivities({
    store,
    client,
    sandbox,
    expected: expectedFolder({ home }),
    async dataset(benchmark) {
      const source = { benchmark, home, dataDir: resolveDataDir({ env }), download: false } as const;
      const [open, sealed] = await Promise.all([openBenchmark(source), openHiddenTests(source)]);
      return {
        sha256: open.sha256,
        problem: (taskId) => open.problem(taskId),
        hidden: (taskId) => sealed.hidden(taskId),
      };
    },
    endpoint: (endpoint) => resolveEndpoint({ endpoint, env, scriptedUrl }),
    reportRequest: limits.report,
  });

  const workers = await runWorkers({
    connection,
    namespace: settings.namespace,
    roles,
    bundleFolder: bundleFolder(home),
    queues: { control: CONTROL_QUEUE, sandbox: SANDBOX_QUEUE },
    activities,
    models: ['default', 'scripted', 'https://url.invalid'],
    limits: {
      cachedWorkflows: 300,
      storeActivities: 50,
      modelLimit: limits.of,
      // Two jobs a core: one runs while the other's rows are judged.
      sandboxJobs: 2 * availableParallelism(),
    },
    shutdownGraceMs: DRAIN_MS,
  });

  const watch = watchStoreFile(store);
  // At once and not after a drain: nothing that is still under way could be stored.
  const finished = Promise.race([workers.finished, watch.replaced]).finally(async () => {
    watch.stop();
    workers.stop();
    limits.stop();
    await opened?.then((ready) => ready.close()).catch(() => undefined);
    await Promise.allSettled([clientConnection.close(), connection.close(), store.close()]);
  });
  return { finished, stop: workers.stop };
}

/** `replaced` rejects once the store's file is another one: only a new process opens that. One that is gone is not made anew here. */
function watchStoreFile(store: Store): { replaced: Promise<never>; stop: () => void } {
  const { promise: replaced, reject } = Promise.withResolvers<never>();
  const look = () =>
    store.requireSameFile().catch((error: unknown) => {
      if (!(error instanceof StoreError) || error.kind !== 'removed') reject(error);
    });
  const timer = setInterval(() => void look(), STORE_LOOK_MS);
  return { replaced, stop: () => clearInterval(timer) };
}

async function warm(sandbox: () => Promise<Sandbox>): Promise<void> {
  try {
    await (await sandbox()).fingerprint();
  } catch {
    // The activity that needs it meets the same trouble, and tells it.
  }
}
