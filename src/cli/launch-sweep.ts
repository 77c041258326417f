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
    scripted: endpoint.scripted,
    endpointIdentity: endpoint.identity,
    tasks,
    planned: tasks.length * spec.samples,
  });
  const row = await store.getSweep(spec.name);
  if (row === undefined) throw new Error(`the row of ${spec.name} is gone`);
  if (created === 'exists') throw nameInUse({ row, spec, surroundings });
  return row;
}

/** Refuses a name that is in use, before anything starts. */
export async function requireFreeName(input: {
  store: Store;
  prepared: PreparedSweep;
  surroundings: Surroundings;
}): Promise<void> {
  const row = await input.store.getSweep(input.prepared.spec.name);
  if (row !== undefined) throw nameInUse({ row, spec: input.prepared.spec, surroundings: input.surroundings });
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
  if (row.specHash === specIdentity(spec, surroundings).hash) {
    return new UserError({
      message: `The sweep ${row.name} exists already, with this very spec`,
      remedy: `Go on with it by \`qualityflow sweep resume ${row.name}\`, look at it by \`qualityflow report ${row.name}\`, or choose another name`,
      exitCode: 2,
    });
  }
  return new UserError({
    message: `The name ${row.name} is in use by a sweep whose results would differ`,
    details: differences(row, spec, surroundings).map(
      ({ path, before, after }) => `${path}: ${before} there, ${after} here`,
    ),
    remedy: 'Choose another name',
    exitCode: 2,
  });
}

/**
 * Refuses to go on with a sweep under conditions that would change its results: another dataset, endpoint, sandbox or wording of the
 * prompts than it began with.
 */
export function requireSameConditions(row: SweepRow, surroundings: Surroundings): void {
  if (row.specHash === specIdentity(row.spec, surroundings).hash) return;
  throw new UserError({
    message: `The sweep ${row.name} cannot go on: what its results depend on has changed since it began`,
    details: differences(row, row.spec, surroundings).map(
      ({ path, before, after }) => `${path}: ${before} then, ${after} now`,
    ),
    remedy: 'Put that back, or run the spec under another name; replies to unchanged requests are reused',
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
