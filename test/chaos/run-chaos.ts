import { orphanedContainers, processesWith, remaining, temporaryFiles } from './leftovers.ts';
import { type ChaosStrategy, STRATEGIES } from './mini-sweep.ts';
import { seeded } from './random.ts';
import { Rig, VICTIMS, type Victim } from './rig.ts';
import { playRound, type Reference, type RoundFindings, referenceRun } from './round.ts';

/** The figures that must be 0 are counts of findings; `kills` and `inFlightAtKills` tell that something was put to the test. */
export interface ChaosResult {
  rounds: number;
  lost: number;
  doubled: number;
  repeatedCalls: number;
  inFlightAtKills: number;
  leftovers: number;
  /** Outcomes, pass@1 or tokens unlike the undisturbed run's; reservations never closed; a resume where the sweep should have mended itself. */
  differences: number;
  kills: number;
}

const COUNTED = ['lost', 'doubled', 'repeatedCalls', 'differences', 'leftovers'] as const;

export function held(result: ChaosResult): boolean {
  return COUNTED.every((part) => result[part] === 0);
}

/**
 * An undisturbed sweep of each strategy, then `rounds` sweeps of these specs, in each of which a victim in rotation is killed by SIGKILL (Docker: cut off for two seconds; `STOPPED`: stopped and woken) at a moment that
 * `seed` determines. Every round has a model process of its own: its requests have other keys, so nothing is reused between rounds.
 */
export async function runChaos({
  rounds,
  seed,
  victims = VICTIMS,
  strategies = STRATEGIES,
  stopMs,
  note,
}: {
  rounds: number;
  seed: number;
  victims?: readonly Victim[];
  /** Every victim's turn in one of them, then in the next. */
  strategies?: readonly ChaosStrategy[];
  /** How long those are stopped that are not killed. */
  stopMs?: number;
  note: (line: string) => void;
}): Promise<ChaosResult> {
  const random = seeded(seed);
  const total: ChaosResult = {
    rounds: 0,
    lost: 0,
    doubled: 0,
    repeatedCalls: 0,
    inFlightAtKills: 0,
    leftovers: 0,
    differences: 0,
    kills: 0,
  };
  const add = (findings: RoundFindings) => {
    for (const part of COUNTED) {
      total[part] += findings[part].length;
      for (const line of findings[part]) note(`  ${part}: ${line}`);
    }
    total.kills += findings.kills;
    total.inFlightAtKills += findings.inFlightAtKills;
  };

  const undisturbed = new Rig();
  await undisturbed.docker.open();
  const references: Reference[] = [];
  try {
    const used = strategies.slice(0, Math.ceil(rounds / victims.length));
    for (const strategy of used) references.push(await referenceRun(undisturbed, strategy));
  } finally {
    await undisturbed.down();
    undisturbed.remove();
  }
  for (const reference of references) {
    const { outcomes, tokens } = reference.result;
    note(
      `reference (${reference.strategy}): ${Object.keys(outcomes).length} problems, ${reference.completions} completions in ${(reference.activeMs / 1000).toFixed(1)} s, ${tokens.prompt + tokens.completion} tokens`,
    );
  }

  const rig = new Rig({ stopMs });
  await rig.docker.open();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const victim = victims[round % victims.length];
      const reference = references[Math.floor(round / victims.length) % references.length];
      if (victim === undefined || reference === undefined) throw new Error('there is no victim, or no sweep');
      const startedAt = performance.now();
      add(await playRound({ rig, name: `round-${round + 1}`, victim, random, reference, note }));
      total.rounds += 1;
      note(
        `round ${round + 1} of ${rounds} (${victim}, ${reference.strategy}): ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
      );
    }
  } finally {
    await rig.down();
    const nothing = { lost: [], doubled: [], repeatedCalls: [], differences: [], kills: 0, inFlightAtKills: 0 };
    add({
      ...nothing,
      leftovers: [
        ...(await remaining(() => orphanedContainers(rig.seen))),
        ...(await remaining(() =>
          processesWith(rig.project.folder).map(({ pid, args }) => `process ${pid}: ${args.join(' ').slice(0, 200)}`),
        )),
        ...temporaryFiles({ home: rig.home, temporary: rig.temporary }),
      ],
    });
    rig.remove();
  }
  return total;
}
