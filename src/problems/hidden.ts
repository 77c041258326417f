import { type DatasetSource, openDataset } from './dataset.ts';
import type { HiddenTests } from './hidden-tests.ts';
import { ProblemFileError } from './problem-file-error.ts';

/** The sealed half of a benchmark, for grading alone: nothing that talks to a model may import this file. */
export interface HiddenBenchmark {
  name: string;
  sha256: string;
  /** @throws ProblemFileError when there is no task of that canonical id */
  hidden(taskId: string): HiddenTests;
}

/** Same arguments and errors as `openBenchmark`; both read a file once. */
export async function openHiddenTests(source: DatasetSource): Promise<HiddenBenchmark> {
  const { name, sha256, records } = await openDataset(source);
  return {
    name,
    sha256,
    hidden(taskId) {
      const record = records.get(taskId);
      if (record === undefined)
        throw new ProblemFileError(`${name} has no task ${JSON.stringify(taskId)}.`, 'Check the id.');
      return record.hidden();
    },
  };
}
