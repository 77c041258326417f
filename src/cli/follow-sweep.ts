import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { createLogUpdate } from 'log-update';
import type { Store, SweepRow } from '../store/store.ts';
import { type Context, note } from './context.ts';
import { type Health, problemHealth } from './problem-health.ts';
import { finishedOf, progressBlock, progressLine, type Snapshot } from './progress.ts';
import { standing } from './standing.ts';
import { type RunningProblem, runningProblems, type SweepRun, sweepRun } from './sweep-runs.ts';
import { UserError } from './user-error.ts';

const LOOK_MS = 500;
const GLANCE_MS = 50;
/** Listing is limited to a few requests a second on a server that others use too. */
const LIST_MS = 2000;
/** A plain log gets a line when something has changed, and one now and then to show that it lives. */
const PLAIN_LINE_MS = 10_000;
const PLAIN_QUIET_MS = 60_000;
/** The supervisor restarts a server that died within seconds; longer is worth telling. */
const UNREACHABLE_MS = 60_000;

export type Followed =
  | { kind: 'ended'; run: Exclude<SweepRun, 'running'> }
  /** Nothing more happens until a person has mended what `reason` says. */
  | { kind: 'blocked'; reason: string }
  | { kind: 'interrupted' };

/**
 * Calls `look` twice a second, and a last time after the sweep's workflow has ended, until then, until the sweep is blocked, or until
 * Ctrl-C, which leaves the sweep running. A server that is away for a minute is waited for.
 */
export async function followRun(input: {
  context: Context;
  store: Store;
  client: Client;
  sweep: string;
  look: (state: { ended: boolean }) => Promise<void>;
}): Promise<Followed> {
  const { context, store, client, sweep, look } = input;
  const interrupt = new AbortController();
  const restore = context.onInterrupt(() => interrupt.abort());
  /** Since the first look that failed: on a machine that was suspended, the last answer may be hours ago. */
  let awaySince: number | undefined;
  try {
    for (;;) {
      let run: SweepRun = 'running';
      try {
        run = await sweepRun(client, sweep);
        awaySince = undefined;
      } catch (error) {
        awaySince ??= performance.now();
        if (performance.now() - awaySince > UNREACHABLE_MS) throw unreachable(sweep, error);
      }
      await look({ ended: run !== 'running' });
      if (run !== 'running') return { kind: 'ended', run };
      const plan = await store.getPlan(sweep);
      if (plan?.state === 'blocked') return { kind: 'blocked', reason: plan.stateReason };
      await pause();
      if (interrupt.signal.aborted) return { kind: 'interrupted' };
    }
  } finally {
    restore();
  }

  /** Until the next look. The end of a sweep is in the store just before Temporal tells it. */
  async function pause(): Promise<void> {
    const until = performance.now() + LOOK_MS;
    do {
      await sleep(GLANCE_MS, undefined, { signal: interrupt.signal }).catch(() => undefined);
      if (interrupt.signal.aborted) return;
    } while (performance.now() < until && (await store.getPlan(sweep))?.state !== 'completed');
  }
}

/** Follows a sweep with live progress on stderr: a block that is rewritten on a terminal, a line now and then elsewhere. */
export async function followSweep(input: {
  context: Context;
  store: Store;
  client: Client;
  sweep: SweepRow;
}): Promise<Followed> {
  const { context, store, client, sweep } = input;
  const display = progressDisplay(context);
  const startedAt = performance.now();
  const doneBefore = finishedOf(await store.countOutcomes(sweep.name));
  let listedAt = Number.NEGATIVE_INFINITY;
  let running: RunningProblem[] = [];
  let health: Health | undefined;
  try {
    return await followRun({
      context,
      store,
      client,
      sweep: sweep.name,
      async look({ ended }) {
        if (!ended && performance.now() - listedAt >= LIST_MS) {
          running = await runningProblems(client, sweep.name).catch(() => running);
          health = await problemHealth(client, running, Date.now()).catch(() => undefined);
          listedAt = performance.now();
        }
        const [counts, usage, spent, plan] = await Promise.all([
          store.countOutcomes(sweep.name),
          store.usage({ sweep: sweep.name }),
          store.spent(sweep.name),
          store.getPlan(sweep.name),
        ]);
        display.show({
          sweep: sweep.name,
          planned: sweep.planned,
          counts,
          running: ended ? [] : running,
          requests: { sent: usage.sent, reused: usage.reused },
          tokens: usage.paid.prompt + usage.paid.completion,
          standing: standing({ plan: plan ?? sweep, health: ended ? undefined : health, spent }),
          elapsedMs: performance.now() - startedAt,
          doneBefore,
        });
      },
    });
  } finally {
    display.end();
  }
}

function progressDisplay(context: Context): { show(snapshot: Snapshot): void; end(): void } {
  const { stderr } = context;
  // A pseudo-terminal without a size shows nothing of a block.
  if (stderr.isTTY === true && stderr.rows !== 0 && stderr.columns !== 0) {
    const update = createLogUpdate(stderr, { showCursor: true });
    return {
      show: (snapshot) => update(progressBlock(snapshot, stderr.columns ?? 80)),
      end: () => update.done(),
    };
  }
  let printedAt = Number.NEGATIVE_INFINITY;
  let printed = '';
  let latest: Snapshot | undefined;
  const line = (snapshot: Snapshot) => {
    note(context, progressLine(snapshot));
    printedAt = performance.now();
    printed = stateOf(snapshot);
  };
  return {
    show(snapshot) {
      latest = snapshot;
      const quietMs = performance.now() - printedAt;
      if (quietMs >= PLAIN_QUIET_MS || (quietMs >= PLAIN_LINE_MS && stateOf(snapshot) !== printed)) line(snapshot);
    },
    end() {
      if (latest !== undefined && stateOf(latest) !== printed) line(latest);
    },
  };
}

function stateOf({ counts, requests, standing }: Snapshot): string {
  // How long ago a heartbeat came, and when the next attempt comes, change all the time.
  const lasting = standing.map((line) => line.replace(/ late: .*/, ' late').replace(/ \(attempt \d+, [^()]*\)$/, ''));
  return JSON.stringify([counts, requests.sent, lasting]);
}

function unreachable(sweep: string, cause: unknown): UserError {
  return new UserError({
    message: `Temporal has not answered for ${UNREACHABLE_MS / 1000} s`,
    remedy: `The sweep goes on by itself once the server is back: \`qualityflow dev\` starts it, \`qualityflow sweep watch ${sweep}\` shows it`,
    exitCode: 3,
    cause,
  });
}
