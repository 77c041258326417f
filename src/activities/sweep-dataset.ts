import type { SweepPlan } from '../store/store.ts';
import type { Dataset, Dependencies } from './dependencies.ts';
import { permanentFailure } from './failures.ts';

export async function requirePlan({ store }: Dependencies, name: string): Promise<SweepPlan> {
  const sweep = await store.getPlan(name);
  if (sweep === undefined) throw permanentFailure('UnknownSweep', `the store has no sweep named ${name}`);
  return sweep;
}

/** The dataset a sweep was planned on; one that has changed since is refused, because its results could not be compared. */
export async function datasetOf(deps: Dependencies, sweep: SweepPlan): Promise<Dataset> {
  const dataset = await deps.dataset(sweep.spec.benchmark);
  if (dataset.sha256 !== sweep.datasetSha256) {
    throw permanentFailure(
      'DatasetChanged',
      `${sweep.spec.benchmark} has changed since ${sweep.name} was planned: put the file with sha256 ${sweep.datasetSha256} back`,
    );
  }
  return dataset;
}
