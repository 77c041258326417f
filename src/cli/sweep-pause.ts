import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import type { SweepState } from '../store/store.ts';
import { withRunningTemporal } from './connect.ts';
import { type Context, print, printJson } from './context.ts';
import { requireSweep, withSweep } from './open-state.ts';
import { releaseProblems } from './release-sweep.ts';
import { runningProblems } from './sweep-runs.ts';
import { type ExitCode, UserError } from './user-error.ts';

/**
 * `sweep pause`: from now on no running problem starts another request or sandbox job; what is in flight finishes and is stored. It is a
 * word in the store, so it outlives every worker, server and command. Exit 0 when that holds already (paused, blocked), 2 when the sweep has ended:
 * there would be nothing to unpause.
 */
export function pauseSweepCommand({
  context,
  name,
  json,
}: {
  context: Context;
  name: string;
  json?: boolean;
}): Promise<ExitCode> {
  return withSweep<ExitCode>(context, name, async (store) => {
    const changed = await store.setSweepState(name, 'paused', { from: ['created', 'running'] });
    const { state, stateReason } = await requireSweep(store, name);
    if (!changed) await requireNotEnded(context, name, state);
    if (json === true) printJson(context, { sweep: name, state, changed });
    else if (changed)
      print(
        context,
        `Paused ${name}. What is in flight finishes and is stored; \`qualityflow sweep unpause ${name}\` goes on.`,
      );
    else if (state === 'paused') print(context, `${name} is paused already.`);
    else print(context, `${name} is blocked, and starts nothing: ${terminalLine(stateReason)}`);
    return 0;
  });
}

async function requireNotEnded(context: Context, name: string, state: SweepState): Promise<void> {
  if (state !== 'completed' && state !== 'cancelled' && state !== 'failed') return;
  const retried = await withRunningTemporal(context, async (temporal) =>
    temporal === undefined ? 0 : (await runningProblems(temporal.client, name, { alone: true })).length,
  ).catch(() => 0);
  if (retried > 0) {
    throw new UserError({
      message: `The sweep ${name} is ${state}; what runs of it is ${counted(retried, 'retried problem')}, which ${retried === 1 ? 'is' : 'are'} not paused`,
      remedy: `\`qualityflow sweep cancel ${name}\` stops that, what it has paid for stays`,
      exitCode: 2,
    });
  }
  throw new UserError({
    message: `The sweep ${name} is not running: it is ${state}`,
    remedy: `What it left unfinished goes on by \`qualityflow sweep resume ${name}\`, how it stands is shown by \`qualityflow sweep status ${name}\``,
    exitCode: 2,
  });
}

/** `sweep unpause`: each problem goes on at its step. Said twice it tells the problems again, should a first word have been lost. Exit 2 when the sweep has ended, 3 when it is blocked. */
export function unpauseSweepCommand({
  context,
  name,
  json,
}: {
  context: Context;
  name: string;
  json?: boolean;
}): Promise<ExitCode> {
  return withSweep<ExitCode>(context, name, async (store) => {
    const changed = await store.setSweepState(name, 'running', { from: ['paused'] });
    const { state, stateReason } = await requireSweep(store, name);
    if (state === 'blocked') {
      throw new UserError({
        message: `${name} is not paused but blocked: ${stateReason}`,
        remedy: `Mend that; then \`qualityflow sweep resume ${name}\` goes on`,
        exitCode: 3,
      });
    }
    await requireNotEnded(context, name, state);
    const told = await withRunningTemporal(context, async (temporal) =>
      temporal === undefined ? undefined : releaseProblems(temporal.client, name),
    );
    if (json === true) printJson(context, { sweep: name, state, changed, released: told ?? 0 });
    else if (told === undefined)
      print(
        context,
        `${name} is no longer paused, but nothing runs here: \`qualityflow sweep resume ${name}\` goes on.`,
      );
    else print(context, `${changed ? `Unpaused ${name}` : `${name} is not paused`}; ${told} running problems go on.`);
    return 0;
  });
}
