import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { connectClient } from '../../src/temporal/connection.ts';
import { startModelProcess } from './model-process.ts';
import { Rig } from './rig.ts';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
type Event = NonNullable<History['events']>[number];

/** How late a killed worker made the problems that were running, in ms. */
export interface Lateness {
  /** Problems open at the kill. */
  problems: number;
  /** Median time between two steps forward of a problem, undisturbed. */
  usualMs: number;
  /** From the kill to the next step forward, less the usual time. */
  medianMs: number;
  latestMs: number;
  /** Which problem that was, and the step. */
  latest: string;
  /** Attempts that Temporal gave up for want of a heartbeat, before and after the kill. */
  heartbeatTimeouts: { before: number; after: number };
}

/**
 * Runs a sweep of the mini benchmark on the embedded default, kills its worker in the middle, and reads from the histories how late that made
 * its problems. `problems` open at once should be few enough that none waits for a sandbox: that would be counted as late.
 */
export async function measureLateness({
  strategy,
  samples,
  problems,
  latencyMs,
  killAfterMs,
  note,
}: {
  strategy: object;
  samples: number;
  problems: number;
  latencyMs: number;
  killAfterMs: number;
  note: (line: string) => void;
}): Promise<Lateness> {
  const model = await startModelProcess({ faults: [], latencyMs });
  const rig = new Rig();
  await rig.docker.open();
  try {
    const spec = {
      name: 'late',
      benchmark: 'mini',
      samples,
      strategy,
      model: { name: 'scripted', endpoint: model.url, parameters: { temperature: 0.8 } },
      concurrency: { problems, requests: 20 },
    };
    const path = join(rig.project.folder, 'late.yaml');
    writeFileSync(path, JSON.stringify(spec));
    const command = rig.project.start({}, 'sweep', 'run', path, '--json');
    const begun = async () => {
      while ((await model.sums()).total === 0) await sleep(50);
    };
    const early = await Promise.race([command.finished, begun()]);
    if (early !== undefined) throw new Error(`the sweep ended before it began: ${early.stderr}`);
    await sleep(killAfterMs);
    const killedAtMs = Date.now();
    if (!(await rig.kill('worker', { command, model }))) throw new Error('there was no worker to kill');
    note(`worker killed, ${(await model.sums()).open} requests in flight`);
    const { code, stderr } = await command.finished;
    if (code !== 0) throw new Error(`the sweep ended with ${code}: ${stderr}`);
    const { address, namespace } = await rig.server();
    const { client, connection } = await connectClient({ connectionOptions: { address }, namespace });
    const histories = new Map<string, Event[]>();
    try {
      for await (const { workflowId } of client.workflow.list({ query: 'WorkflowType="solveProblem"' })) {
        const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
        histories.set(workflowId, events ?? []);
      }
    } finally {
      await connection.close();
    }
    return latenessOf({ histories, killedAtMs });
  } finally {
    await model.stop();
    await rig.down();
    rig.remove();
  }
}

function latenessOf({ histories, killedAtMs }: { histories: Map<string, Event[]>; killedAtMs: number }): Lateness {
  const usual: number[] = [];
  const late: { id: string; ms: number; by: string }[] = [];
  const heartbeatTimeouts = { before: 0, after: 0 };
  for (const [id, events] of histories) {
    let lastMs: number | undefined;
    for (const event of events) {
      const atMs = tsToMs(event.eventTime);
      const failure = event.activityTaskStartedEventAttributes?.lastFailure;
      if (failure?.timeoutFailureInfo) heartbeatTimeouts[atMs < killedAtMs ? 'before' : 'after'] += 1;
      const by = stepForward(event);
      if (by === undefined) continue;
      if (lastMs !== undefined) {
        if (lastMs < killedAtMs && atMs >= killedAtMs) late.push({ id, ms: atMs - killedAtMs, by });
        else if (atMs < killedAtMs) usual.push(atMs - lastMs);
      }
      lastMs = atMs;
    }
  }
  const usualMs = median(usual);
  const sorted = late.toSorted((a, b) => b.ms - a.ms);
  const latest = sorted[0];
  return {
    problems: late.length,
    usualMs,
    medianMs: Math.max(0, median(late.map(({ ms }) => ms)) - usualMs),
    latestMs: Math.max(0, (latest?.ms ?? 0) - usualMs),
    latest: latest === undefined ? '' : `${latest.id}: ${latest.by}`,
    heartbeatTimeouts,
  };
}

function stepForward(event: Event): string | undefined {
  if (event.workflowExecutionStartedEventAttributes) return 'start';
  if (event.activityTaskCompletedEventAttributes) return 'activity completed';
  if (event.markerRecordedEventAttributes) return 'problem loaded';
  if (event.workflowExecutionCompletedEventAttributes) return 'end';
  return undefined;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
