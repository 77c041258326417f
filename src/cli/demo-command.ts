import { createInterface } from 'node:readline';
import { buildReport, type SweepReport } from '../reports/report.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import type { SandboxFingerprint } from '../sandbox/sandbox.ts';
import { parseSpecValue } from '../spec/parse-spec.ts';
import type { Store } from '../store/store.ts';
import { devStatus, stopDev } from '../temporal/embedded/dev.ts';
import { withoutEndpoints } from '../temporal/embedded/worker-env.ts';
import { type Temporal, withStartedTemporal } from './connect.ts';
import { type Context, note, paint, print, printJson } from './context.ts';
import { comparisonTable } from './demo-table.ts';
import { ensureReady } from './ensure-ready.ts';
import { followSweep } from './follow-sweep.ts';
import { createSweep } from './launch-sweep.ts';
import { withStore } from './open-state.ts';
import { prepareSweep } from './prepare-sweep.ts';
import { runningSweeps } from './running-sweeps.ts';
import { sandboxFingerprint, surroundingsOf } from './surroundings.ts';
import { unfinishedOf } from './sweep-result.ts';
import { announce } from './sweep-run.ts';
import { startSweep } from './sweep-runs.ts';
import type { ExitCode } from './user-error.ts';

const STRATEGIES = ['zero-shot', 'quality-flow'] as const;

/**
 * `demo`: two sweeps over the bundled problems with the scripted model, then a table. On a terminal Temporal UI stays up until Enter or
 * Ctrl-C; what the demo started, it stops, unless another sweep has begun to use it.
 */
export async function demoCommand({
  context,
  yes,
  json,
}: {
  context: Context;
  yes?: boolean;
  json?: boolean;
}): Promise<ExitCode> {
  await ensureReady({ context, env: context.env, yes: yes === true });
  const fingerprint = await sandboxFingerprint(context);
  const ranBefore = (await devStatus({ home: context.home }))?.state === 'running';
  // The demo asks no endpoint; a sweep that goes on beside it may.
  const env = (await runningSweeps({ context })).length > 0 ? context.env : withoutEndpoints(context.env);
  const own: string[] = [];
  try {
    return await withStore(context, (store) =>
      withStartedTemporal({ context, env }, async (started) => {
        // Nobody can look at a server that is stopped as soon as the table is there.
        const temporal = context.interactive || ranBefore ? started : { ...started, uiUrl: '' };
        const number = await freeNumber(store);
        const reports: SweepReport[] = [];
        for (const strategy of STRATEGIES) {
          const name = `demo-${strategy}-${number}`;
          own.push(name);
          const report = await runOne({ context, store, temporal, name, strategy, fingerprint });
          if (report === undefined) return 130;
          reports.push(report);
        }
        if (json === true) for (const report of reports) printJson(context, report);
        else print(context, summary(context, reports, temporal));
        const unfinished = reports.some(({ outcomes }) => unfinishedOf(outcomes) > 0);
        if (context.interactive && temporal.uiUrl !== '') await enterOrInterrupt(context);
        return unfinished ? 3 : 0;
      }),
    );
  } finally {
    if (!ranBefore) await stopUnlessUsed(context, own);
  }
}

async function stopUnlessUsed(context: Context, own: readonly string[]): Promise<void> {
  const others = (await runningSweeps({ context, except: own })).map(({ name }) => name);
  if (others.length > 0) {
    note(context, `What the demo started stays up, for ${others.join(', ')}; \`qualityflow down\` stops it.`);
    return;
  }
  note(context, 'Stopping what the demo started …');
  await stopDev({ home: context.home });
}

/** Undefined after Ctrl-C. */
async function runOne(input: {
  context: Context;
  store: Store;
  temporal: Temporal;
  name: string;
  strategy: (typeof STRATEGIES)[number];
  fingerprint: SandboxFingerprint;
}): Promise<SweepReport | undefined> {
  const { context, store, temporal, name, strategy, fingerprint } = input;
  const parsed = parseSpecValue({
    name,
    benchmark: 'mini',
    strategy,
    model: { name: 'scripted', endpoint: 'scripted' },
  });
  if (parsed.kind === 'problems') throw new Error(`the demo's own spec is invalid: ${JSON.stringify(parsed.problems)}`);
  const prepared = await prepareSweep({ context, spec: parsed.spec });
  const sweep = await createSweep({ store, prepared, surroundings: surroundingsOf(prepared, fingerprint) });
  await startSweep(temporal.client, sweep);
  announce(context, sweep, temporal.uiUrl);
  const followed = await followSweep({ context, store, client: temporal.client, sweep });
  return followed.kind === 'interrupted' ? undefined : buildReport({ store, sweep: name });
}

async function freeNumber(store: Store): Promise<number> {
  const names = new Set((await store.listSweeps()).map(({ name }) => name));
  let number = 1;
  while (STRATEGIES.some((strategy) => names.has(`demo-${strategy}-${number}`))) number += 1;
  return number;
}

function summary(context: Context, reports: readonly SweepReport[], { uiUrl }: Temporal): string {
  const flow = reports.at(-1);
  const ui =
    uiUrl === ''
      ? []
      : [`Every step of every problem in Temporal UI: ${paint(context.stdout, 'cyan', terminalLine(uiUrl))}`];
  return [
    '',
    paint(
      context.stdout,
      'yellow',
      'A script played the model: these numbers show how the parts work together and say nothing about any model.',
    ),
    comparisonTable(reports),
    ...ui,
    ...(flow === undefined
      ? []
      : [
          `One problem, step by step:  qualityflow show ${flow.sweep} TASK      (tasks: qualityflow problems list mini)`,
        ]),
    'With a real model:          OPENAI_BASE_URL=http://localhost:8080/v1 qualityflow sweep run --benchmark humaneval --limit 20 --model NAME',
    'In a checkout, `npx qualityflow …` runs these.',
  ].join('\n');
}

function enterOrInterrupt(context: Context): Promise<void> {
  note(context, '\nTemporal UI stays up until you press Enter or Ctrl-C.');
  return new Promise((resolve) => {
    const terminal = createInterface({ input: process.stdin });
    const done = () => {
      restore();
      terminal.close();
      resolve();
    };
    const restore = context.onInterrupt(done);
    terminal.once('line', done);
    terminal.once('close', done);
  });
}
