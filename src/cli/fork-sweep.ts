import { counted } from '../reports/terminal.ts';
import { type Surroundings, specIdentity } from '../spec/identity.ts';
import { NAME_PATTERN, NAME_RULE } from '../spec/schema.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { Store } from '../store/store.ts';
import { type Context, note } from './context.ts';
import { firstRequestKeys } from './first-requests.ts';
import { dryDifferences } from './launch-sweep.ts';
import { requireSweep } from './open-state.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { grouped } from './progress.ts';
import { UserError } from './user-error.ts';

/** The spec under the name that `--fork` gives: a new sweep, which shares with `spec.name` only the replies to equal requests. */
export function forkedSpec(spec: SweepSpec, to: string): SweepSpec {
  if (!NAME_PATTERN.test(to)) throw badFork(`--fork ${JSON.stringify(to)} is no name of a sweep: it ${NAME_RULE}`);
  if (to === spec.name) throw badFork(`--fork ${to} names the very sweep that it would be forked from`);
  return { ...spec, name: to };
}

/** The name of a fork that nobody has named. */
export function nameBeside(name: string): string {
  const made = `${name}-plus`;
  if (NAME_PATTERN.test(made)) return made;
  throw new UserError({
    message: `The new sweep beside ${name} would be named ${made}, which is too long for the name of a sweep`,
    remedy: 'Name it yourself, such as --fork second-try',
    exitCode: 2,
  });
}

/**
 * Refuses a fork of a sweep that is not there, one whose name is taken, and one that would repeat the sweep as it is. Without
 * `surroundings` (a dry run starts no sandbox to ask) prompts and sandbox count as equal.
 */
export async function requireFork(input: {
  store: Store;
  from: string;
  prepared: PreparedSweep;
  surroundings?: Surroundings;
}): Promise<void> {
  const { store, from, prepared, surroundings } = input;
  const { name } = prepared.spec;
  const source = await requireSweep(store, from);
  if ((await store.getPlan(name)) !== undefined) {
    throw new UserError({
      message: `The sweep ${name} exists already, so ${from} cannot be forked to it`,
      remedy: `Give the fork another name, or go on with that one: \`qualityflow sweep resume ${name}\``,
      exitCode: 2,
    });
  }
  const same =
    surroundings === undefined
      ? dryDifferences(source, prepared).length === 0
      : source.specHash === specIdentity(prepared.spec, surroundings).hash;
  if (!same) return;
  throw new UserError({
    message: `A fork of ${from} would repeat it: nothing that changes results differs`,
    remedy: `Go on with it as it is: \`qualityflow sweep resume ${from}\``,
    exitCode: 2,
  });
}

/** How far the store reaches: counted on the requests that are known before anything runs. */
export async function tellReuse(input: {
  context: Context;
  store: Store;
  from: string;
  prepared: PreparedSweep;
}): Promise<void> {
  const { context, store, from, prepared } = input;
  const keys = firstRequestKeys(prepared);
  const stored = await store.countReplies(keys);
  note(
    context,
    `Fork of ${from}: ${grouped(stored)} of the ${counted(keys.length, 'request')} for a first program ${stored === 1 ? 'has' : 'have'} a stored reply and cost nothing; what follows is looked for in the store as it comes.`,
  );
}

function badFork(message: string): UserError {
  return new UserError({
    message,
    remedy: 'Give the fork a name of its own, such as --fork second-try',
    exitCode: 2,
  });
}
