import { type OperationalChange, parseOperational } from '../spec/parse-spec.ts';
import type { Store, SweepRow, SweepState } from '../store/store.ts';
import { requireUsefulBudget } from './budget-forecast.ts';
import { withStartedTemporal } from './connect.ts';
import { type Context, note } from './context.ts';
import { forkedSpec } from './fork-sweep.ts';
import { goOn, prepareToGoOn } from './go-on.ts';
import { withSweep } from './open-state.ts';
import { prepareSweep } from './prepare-sweep.ts';
import { grouped } from './progress.ts';
import { numeric, present, specError } from './spec-input.ts';
import { showResult } from './sweep-result.ts';
import { launch } from './sweep-run.ts';
import type { ExitCode } from './user-error.ts';

const UNENDED: readonly SweepState[] = ['created', 'running', 'paused', 'blocked', 'cancelled', 'failed'];

/** What a resume may change: none of it changes results. */
export interface OperationalFlags {
  budgetTokens?: string;
  budgetUsd?: string;
  problems?: string;
  requests?: string;
}

/**
 * `sweep resume`: runs what has no final outcome; what is stored is neither paid for nor graded again. Ends a pause or a block, and puts
 * other limits in force first. With `--fork NEW` its spec runs as the new sweep NEW, under conditions that have changed.
 */
export function resumeSweepCommand(
  input: {
    context: Context;
    name: string;
    fork?: string;
    detach?: boolean;
    dataDir?: string;
    json?: boolean;
  } & OperationalFlags,
): Promise<ExitCode> {
  const { context, name } = input;
  return withSweep<ExitCode>(context, name, async (store, before) => {
    const change = changeOf(input, before);
    if (input.fork !== undefined) {
      const spec = { ...forkedSpec(before.spec, input.fork), ...change };
      const prepared = await prepareSweep({ context, spec, dataDir: input.dataDir });
      requireUsefulBudget(prepared);
      return launch({ context, prepared, from: name, detach: input.detach === true, json: input.json === true });
    }
    const json = input.json === true;
    const isComplete = async () =>
      (await store.listUnfinished({ sweep: name, from: 0, to: before.planned, limit: 1 })).length === 0;
    if (await isComplete()) return showComplete({ context, store, sweep: before, json });
    const { prepared } = await prepareToGoOn({ context, sweep: before, dataDir: input.dataDir });
    return withStartedTemporal({ context, prepared }, async (temporal) => {
      // Another shell's resume may have come to the end while this one set up.
      if (await isComplete()) return showComplete({ context, store, sweep: before, json });
      if (change !== undefined) await store.updateOperational(name, change);
      await tellBudget(context, store, name);
      return goOn({ context, store, temporal, name, detach: input.detach === true, json });
    });
  });
}

/** Nothing is started for it. Its own workflow, which says so at its end, may have been lost before that. */
async function showComplete(input: {
  context: Context;
  store: Store;
  sweep: SweepRow;
  json: boolean;
}): Promise<ExitCode> {
  const { context, store, sweep } = input;
  await store.setSweepState(sweep.name, 'completed', { from: UNENDED });
  const { planned, name } = sweep;
  const runs = planned === 1 ? 'its one run has' : `all ${planned} runs have`;
  note(context, `The sweep ${name} is complete: ${runs} a final outcome.`);
  return showResult({ ...input, followed: { kind: 'ended', run: 'completed' } });
}

/** Undefined when no flag was given. */
function changeOf(flags: OperationalFlags, { spec }: SweepRow): OperationalChange | undefined {
  const budget = present({ tokens: numeric(flags.budgetTokens), usd: numeric(flags.budgetUsd) });
  const concurrency = present({ problems: numeric(flags.problems), requests: numeric(flags.requests) });
  if (Object.keys({ ...budget, ...concurrency }).length === 0) return undefined;
  const parsed = parseOperational({ budget, concurrency }, spec);
  if (parsed.kind === 'problems') throw specError(undefined, parsed.problems);
  return parsed.change;
}

/** A budget that is used up is said before the runs that need it end; those whose replies are stored need none. */
async function tellBudget(context: Context, store: Store, name: string): Promise<void> {
  const { settled, possiblyCharged, cap } = await store.spent(name);
  const used = settled.tokens + possiblyCharged.tokens;
  const usedMicroUsd = settled.microUsd + possiblyCharged.microUsd;
  const flag =
    cap.tokens !== null && used >= cap.tokens
      ? '--budget-tokens'
      : cap.microUsd !== null && usedMicroUsd >= cap.microUsd
        ? '--budget-usd'
        : undefined;
  if (flag === undefined) return;
  note(
    context,
    `The budget of ${name} is used up (${grouped(used)} tokens): only what needs no new request can go on. Raise it with ${flag}.`,
  );
}
