import { terminalLine } from '../reports/terminal-safe.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { SweepRow } from '../store/store.ts';
import type { Context } from './context.ts';
import { forkedSpec } from './fork-sweep.ts';
import { withSweep } from './open-state.ts';
import { type OperationalFlags, operationalChange } from './operational-flags.ts';
import { prepareSweep } from './prepare-sweep.ts';
import { launch } from './sweep-run.ts';
import { type ExitCode, UserError } from './user-error.ts';

/** As in the spec (`src/spec/schema.ts`). */
const MOST_PROGRAMS = 1000;

/**
 * `sweep extend NAME --programs N`: the same selection among more programs. Another choice is another result, so it becomes a sweep beside the
 * first, `NAME-N`; programs and tests that the first has drawn are in the store, and only the difference is asked and paid for.
 */
export function extendPrograms(input: {
  context: Context;
  name: string;
  programs: number;
  /** Name of the new sweep. */
  fork: string | undefined;
  budget: OperationalFlags;
  dataDir: string | undefined;
  detach: boolean;
  json: boolean;
}): Promise<ExitCode> {
  const { context, name, programs, fork, dataDir, detach, json } = input;
  return withSweep<ExitCode>(context, name, async (_store, sweep) => {
    const spec = { ...withPrograms(sweep, programs, fork), ...operationalChange(input.budget, sweep.spec) };
    const prepared = await prepareSweep({ context, spec, dataDir });
    return launch({ context, prepared, from: name, detach, json });
  });
}

export function withPrograms(
  { name, spec }: Pick<SweepRow, 'name' | 'spec'>,
  programs: number,
  fork?: string,
): SweepSpec {
  const { strategy } = spec;
  if (strategy.kind !== 'select') {
    throw new UserError({
      message: `The sweep ${terminalLine(name)} selects from no pool: its strategy is ${strategy.kind}`,
      remedy: 'Ask for more --samples, which are independent runs of its strategy',
      exitCode: 2,
    });
  }
  if (programs <= strategy.programs || programs > MOST_PROGRAMS) {
    throw new UserError({
      message: `The sweep ${terminalLine(name)} draws ${strategy.programs} programs a run, and ${programs} ${programs > MOST_PROGRAMS ? `is more than ${MOST_PROGRAMS}` : 'are no more'}`,
      remedy: `Ask for more than it has, up to ${MOST_PROGRAMS}`,
      exitCode: 2,
    });
  }
  return { ...forkedSpec(spec, fork ?? `${name}-${programs}`), strategy: { ...strategy, programs } };
}
