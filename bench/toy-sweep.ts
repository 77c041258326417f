import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { withHeartbeat } from '../src/activities/heartbeat.ts';
import { sweepWorkflowId } from '../src/temporal/ids.ts';
import { problemWorkflowId } from '../src/temporal/problem-id.ts';
import { modelQueue } from '../src/temporal/queues.ts';
import { runWorkers } from '../src/temporal/worker.ts';
import type { runSweep } from '../src/workflows/sweep/run-sweep.ts';
import { onInterrupt } from '../test/support/on-interrupt.ts';
import { startTemporal } from '../test/support/temporal.ts';
import { ToyPlan, toyActivities, toyModel } from '../test/workflows/toy-activities.ts';
import type { Shape, ShapeName } from './toy-agents.ts';

export interface ToyResult {
  /** From the start of the sweep's workflow to its end. */
  seconds: number;
  /** Of one problem's history. */
  events: number;
  bytes: number;
  activities: number;
}

const NAME = 'bench';

/** Runs `playToySweep` in a process of its own. */
export async function toySweep(input: { shape: ShapeName; problems: number; concurrency: number }): Promise<ToyResult> {
  const { shape, problems, concurrency } = input;
  const child = fork(join(import.meta.dirname, 'toy-main.ts'), [shape, String(problems), String(concurrency)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const closed = once(child, 'close');
  const forget = onInterrupt(async () => {
    child.kill('SIGTERM');
    await closed;
  });
  return new Promise((resolve, reject) => {
    let result: ToyResult | undefined;
    child.on('message', (message) => {
      // From a script of this very version.
      result = message as ToyResult;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      forget();
      if (result === undefined) reject(new Error(`the toy sweep ended with ${code}`));
      else resolve(result);
    });
  });
}

/**
 * A sweep on a fresh server in memory, with the product's workers and workflows, and activities that do nothing: what orchestration costs by
 * itself. Also gives the size of one problem's history.
 */
export async function playToySweep(input: Shape & { problems: number; concurrency: number }): Promise<ToyResult> {
  const tasks = Array.from({ length: input.problems }, (_, index) => `toy/${index}`);
  const plan = new ToyPlan(tasks, input.strategy);
  plan.concurrency = input.concurrency;
  const queues = { control: `${NAME}-control`, model: modelQueue(toyModel.endpoint), sandbox: `${NAME}-sandbox` };
  const temporal = await startTemporal();
  try {
    const workers = await runWorkers({
      connection: temporal.nativeConnection,
      namespace: 'default',
      roles: ['control', 'model', 'sandbox'],
      queues,
      activities: Object.fromEntries(
        Object.entries(toyActivities(plan, input.own)).map(([type, activity]) => [type, withHeartbeat(activity)]),
      ),
      models: [toyModel.endpoint],
      limits: { cachedWorkflows: 300, storeActivities: 50, modelLimit: () => 100, sandboxJobs: 8 },
      shutdownGraceMs: 1000,
    });
    try {
      const startedAt = performance.now();
      await temporal.client.workflow.execute<typeof runSweep>('runSweep', {
        workflowId: sweepWorkflowId(NAME),
        taskQueue: queues.control,
        args: [{ sweep: NAME, queues }],
      });
      const seconds = (performance.now() - startedAt) / 1000;
      const { size } = plan.outcomes;
      if (size !== input.problems) throw new Error(`${size} of ${input.problems} problems ended`);
      const workflowId = problemWorkflowId({ sweep: NAME, taskId: 'toy/0', sample: 0 });
      const handle = temporal.client.workflow.getHandle(workflowId);
      const [history, { historySize }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
      return { seconds, bytes: historySize ?? 0, ...sizeOf(history) };
    } finally {
      workers.stop();
      await workers.finished;
    }
  } finally {
    await temporal.teardown();
  }
}

function sizeOf({ events }: History): { events: number; activities: number } {
  const all = events ?? [];
  const activities = all.filter((event) => event.activityTaskScheduledEventAttributes).length;
  return { events: all.length, activities };
}
