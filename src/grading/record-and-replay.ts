import type { EncodedValue, JudgeJob, OutputRow, Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import { type CollectedTest, MAX_ROUNDS } from './collect-calls.ts';
import { decideDirect } from './decide-direct.ts';
import { isNearLimit, printedIn } from './describe-row.ts';
import { type Replayed, replayTests } from './replay-tests.ts';

export interface ReplayJob {
  sandbox: Sandbox;
  programs: string[];
  entryPoint: string;
  alias: string | null;
  setup: string;
  tests: CollectedTest[];
  trust: JudgeJob['trust'];
  limits: SandboxLimits;
  prints?: boolean | undefined;
  stopAfter?: number | undefined;
  /** Statuses are enough: what a failed test got and wanted may be left out. */
  brief?: boolean | undefined;
  /** Told once, when all is done, what the programs returned. */
  observe?: ((recorded: Recorded) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** What each program did with each call that some test made. */
export interface Recorded {
  calls: EncodedValue[];
  /** By program, then by call; undefined where a program was not given a call of a later round. */
  rows: (OutputRow | undefined)[][];
}

/**
 * The programs run the tests' calls, and the judge runs the tests over what came out; again for the calls that the results led to.
 * Results by program, then by test; undefined where values alone did not decide, or the rounds were used up.
 */
export async function recordAndReplay(job: ReplayJob): Promise<Replayed[][]> {
  const { sandbox, programs, entryPoint, tests } = job;
  const calls: EncodedValue[] = [];
  const rows: (OutputRow | undefined)[][] = programs.map(() => []);
  const results: Replayed[][] = programs.map(() => tests.map(() => undefined));

  let wanted = [...new Set(tests.flatMap((test) => test.calls))];
  let open = tests.length === 0 ? [] : programs.map((_, program) => ({ program, tests: tests.map((_, test) => test) }));
  for (let round = 0; round < MAX_ROUNDS && open.length > 0; round += 1) {
    await record(
      wanted,
      open.map(({ program }) => program),
    );
    if (round === 0) open = decideDirectly();
    const outcome = await replayTests({
      ...job,
      calls,
      programs: open.map(({ program, tests: undecided }) => ({ rows: rows[program] ?? [], tests: undecided })),
    });
    outcome.results.forEach((row, index) => {
      const { program = -1, tests: undecided = [] } = open[index] ?? {};
      const ofProgram = results[program];
      row.forEach((result, place) => {
        if (ofProgram !== undefined && result !== undefined) ofProgram[undecided[place] ?? -1] = result;
      });
    });
    const needs = outcome.needs;
    wanted = [...new Set(needs.flat())].filter((call) => !calls.includes(call));
    open = open.filter((_, index) => (needs[index] ?? []).length > 0);
  }
  job.observe?.({ calls, rows });
  return results.map((row, program) => withRemarks(row, rows[program] ?? []));

  /** Calls of later rounds are not known by test: their times count for all, what they print for none. */
  function withRemarks(row: Replayed[], recorded: (OutputRow | undefined)[]): Replayed[] {
    const near = calls.filter((_, call) => isNearLimit(recorded[call]));
    if (near.length === 0 && job.prints !== true) return row;
    const first = new Set(tests.flatMap((test) => test.calls));
    return row.map((result, index) => {
      const own = tests[index]?.calls ?? [];
      if (result === undefined) return undefined;
      return {
        ...result,
        ...printedIn(own.map((call) => recorded[calls.indexOf(call)])),
        ...(near.some((call) => !first.has(call) || own.includes(call)) ? { nearLimit: true } : {}),
      };
    });
  }

  /** What is left for the judge, by program. */
  function decideDirectly(): { program: number; tests: number[] }[] {
    const places = new Map(calls.map((call, index) => [call, index]));
    const only = tests.map(({ expected, calls: [call = ''] }) => (expected === undefined ? -1 : places.get(call)));
    return programs.flatMap((_, program) => {
      const undecided = tests.flatMap((test, index) => {
        const row = rows[program]?.[only[index] ?? -1];
        const result = row === undefined ? undefined : decideDirect(test, row, { brief: job.brief === true });
        const ofProgram = results[program];
        if (ofProgram !== undefined) ofProgram[index] = result;
        return result === undefined ? [index] : [];
      });
      return undecided.length === 0 ? [] : [{ program, tests: undecided }];
    });
  }

  async function record(newCalls: EncodedValue[], who: number[]): Promise<void> {
    if (newCalls.length === 0) return;
    const found = await sandbox.runCalls({
      programs: who.map((program) => ({ source: programs[program] ?? '', entryPoint })),
      calls: newCalls,
      limits: job.limits,
      prints: job.prints,
      stopAfter: job.stopAfter,
      signal: job.signal,
    });
    const offset = calls.length;
    calls.push(...newCalls);
    who.forEach((program, index) => {
      newCalls.forEach((_, call) => {
        const ofProgram = rows[program];
        if (ofProgram !== undefined) ofProgram[offset + call] = found[index]?.[call] ?? { kind: 'not_run' };
      });
    });
  }
}
