import { startTemporal } from '../support/temporal.ts';
import { measureLateness } from './lateness.ts';
import { measureRecovery, type Trouble } from './recovery.ts';

export const SCENARIOS = ['outage', 'rate-limit', 'late'] as const;
export type Scenario = (typeof SCENARIOS)[number];

interface Played {
  scenario: Scenario;
  /** It was within its bound. */
  held: boolean;
}

/** Throughput must be back this soon after the trouble. */
const BACK_WITHIN_MS = 30_000;
/** After a kill of the worker, no problem may be later. */
const LATE_BY_MS = 15_000;

/** One trouble at its full length, and what was measured. */
export async function playScenario(scenario: Scenario, note: (line: string) => void): Promise<Played> {
  if (scenario === 'late') {
    const sizes = { samples: 2, problems: 8, latencyMs: 500, killAfterMs: 6000 };
    const lateness = await measureLateness({ ...sizes, strategy: { kind: 'zero-shot' }, note });
    const held = lateness.problems > 0 && lateness.latestMs < LATE_BY_MS;
    return { held, scenario, ...lateness };
  }
  return recover(scenario, note);
}

async function recover(trouble: Trouble, note: (line: string) => void): Promise<Played> {
  const temporal = await startTemporal();
  try {
    const recovery = await measureRecovery({
      temporal,
      trouble,
      troubleMs: 60_000,
      latencyMs: 2000,
      requests: 20,
      patienceMs: BACK_WITHIN_MS,
      windowMs: 10_000,
      note,
    });
    const held = recovery.backAfterMs <= BACK_WITHIN_MS;
    return { held, scenario: trouble, ...recovery };
  } finally {
    await temporal.teardown();
  }
}
