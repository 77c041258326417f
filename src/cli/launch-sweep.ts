import { diffIdentity, type IdentityDifference, type Surroundings, specIdentity } from '../spec/identity.ts';
import type { Store, SweepRow } from '../store/store.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { UserError } from './user-error.ts';

/**
 * Writes the sweep's row. A name that is taken is refused: with the way to go on when the sweep there is this very one, and with what
 * differs when it is not.
 */
export async function createSweep(input: {
  store: Store;
  prepared: PreparedSweep;
  surroundings: Surroundings;
}): Promise<SweepRow> {
  const { store, prepared, surroundings } = input;
  const { spec, tasks, endpoint, benchmark } = prepared;
  const created = await store.createSweep({
    name: spec.name,
    spec,
    specHash: specIdentity(spec, surroundings).hash,
    datasetSha256: benchmark.sha256,
    scripted: prepared.scripted,
    endpointIdentity: endpoint.identity,
    tasks,
    planned: tasks.length * spec.samples,
  });
  const row = await store.getSweep(spec.name);
  if (row === undefined) throw new Error(`the row of ${spec.name} is gone`);
  if (created === 'exists') throw nameInUse({ row, spec, surroundings });
  return row;
}

/** Refuses a name that is in use, before anything starts. Only then are the surroundings asked for, which takes a container's start. */
export async function requireFreeName(input: {
  store: Store;
  prepared: PreparedSweep;
  surroundings: () => Promise<Surroundings>;
}): Promise<void> {
  const { spec } = input.prepared;
  const row = await input.store.getSweep(spec.name);
  if (row !== undefined) throw nameInUse({ row, spec, surroundings: await input.surroundings() });
}

/** The same for a dry run, which starts no sandbox to ask what it is: prompts and sandbox are not compared. */
export async function requireFreeNameDry({
  store,
  prepared,
}: {
  store: Store;
  prepared: PreparedSweep;
}): Promise<void> {
  const row = await store.getSweep(prepared.spec.name);
  if (row === undefined) return;
  const found = dryDifferences(row, prepared);
  throw found.length === 0 ? sameSweep(row.name) : otherSweep(row.name, found);
}

/** In what two sweeps differ, prompts and sandbox apart. */
export function dryDifferences(
  row: SweepRow,
  { spec, benchmark, endpoint }: PreparedSweep,
): readonly IdentityDifference[] {
  const rest = { promptVersions: {}, fingerprint: { python: '', numpy: '', runnerSha256: '' } };
  const there = specIdentity(row.spec, {
    ...rest,
    datasetSha256: row.datasetSha256,
    endpointIdentity: row.endpointIdentity,
  });
  const here = specIdentity(spec, { ...rest, datasetSha256: benchmark.sha256, endpointIdentity: endpoint.identity });
  return diffIdentity(there.identity, here.identity);
}

function nameInUse({
  row,
  spec,
  surroundings,
}: {
  row: SweepRow;
  spec: SweepRow['spec'];
  surroundings: Surroundings;
}): UserError {
  if (row.specHash === specIdentity(spec, surroundings).hash) return sameSweep(row.name);
  return otherSweep(row.name, differences(row, spec, surroundings));
}

function sameSweep(name: string): UserError {
  return new UserError({
    message: `The sweep ${name} exists already, with this very spec`,
    remedy: `Go on with it by \`qualityflow sweep resume ${name}\`, look at it by \`qualityflow report ${name}\`, or choose another name`,
    exitCode: 2,
  });
}

function otherSweep(name: string, found: readonly IdentityDifference[]): UserError {
  return new UserError({
    message: `The name ${name} is in use by a sweep whose results would differ`,
    details: foldStrategy(found).map(({ path, before, after }) => `${path}: ${before} there, ${after} here`),
    remedy:
      'Add `--fork NEW` to run it as a new sweep named NEW, in which stored replies to unchanged requests are reused, or choose another name',
    exitCode: 2,
  });
}

const bare = (json: string) => json.replaceAll('"', '');

/** Two kinds of strategy differ in the kind: that one has options which the other lacks follows from it. */
function foldStrategy(found: readonly IdentityDifference[]): readonly IdentityDifference[] {
  const kind = found.find(({ path }) => path === 'strategy.kind');
  if (kind === undefined) return found;
  const others = found.filter(({ path }) => !path.startsWith('strategy.'));
  return [...others, { path: 'strategy', before: bare(kind.before), after: bare(kind.after) }];
}

/**
 * Refuses to go on with a sweep under conditions that would change its results: another dataset, endpoint, sandbox or wording of the
 * prompts than it began with.
 */
export function requireSameConditions(row: SweepRow, surroundings: Surroundings): void {
  if (row.specHash === specIdentity(row.spec, surroundings).hash) return;
  const changed = differences(row, row.spec, surroundings);
  const fork = `make it a new sweep under the present conditions by \`qualityflow sweep resume ${row.name} --fork NEW\``;
  const remedy = changed.some(({ path }) => path === 'model.endpoint')
    ? `Put that back, or ${fork}; replies belong to the endpoint that gave them, so another one is asked anew`
    : `Put that back, or ${fork}, in which stored replies to unchanged requests are reused`;
  throw new UserError({
    message: `The sweep ${row.name} cannot go on: what its results depend on has changed since it began`,
    details: changed.map(({ path, before, after }) => `${path}: ${before} then, ${after} now`),
    remedy,
    exitCode: 2,
  });
}

/** The row keeps its hash, not its prompt versions and sandbox: where nothing else differs, it was one of these. */
function differences(row: SweepRow, spec: SweepRow['spec'], surroundings: Surroundings): IdentityDifference[] {
  const before = specIdentity(row.spec, {
    ...surroundings,
    datasetSha256: row.datasetSha256,
    endpointIdentity: row.endpointIdentity,
  });
  const found = diffIdentity(before.identity, specIdentity(spec, surroundings).identity);
  if (before.hash === row.specHash || found.length > 0) return found;
  return [{ path: 'prompts or sandbox', before: 'those of another version or image', after: 'the present ones' }];
}
