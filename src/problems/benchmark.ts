import { type DatasetSource, openDataset } from './dataset.ts';
import { knownInvalidVisible } from './invalid-visible.ts';
import type { Problem } from './problem.ts';
import { ProblemFileError } from './problem-file-error.ts';

/** The public view of a benchmark: everything a strategy may know, and nothing of the hidden tests. */
export interface Benchmark {
  /** As it was asked for: a benchmark's name, or a path. */
  name: string;
  /** Of the uncompressed dataset; part of a sweep's identity. */
  sha256: string;
  /** Canonical ids, in the dataset's order. */
  taskIds: string[];
  size: number;
  /** @throws ProblemFileError when there is no task of that canonical id (see `canonicalTaskId` for what people type) */
  problem(taskId: string): Problem;
  /** Visible asserts that the dataset's own reference fails; undefined where nobody has counted (own files). They stay visible: leaving them out would leak. */
  countInvalidVisible?: number | undefined;
}

/**
 * Opens a benchmark by name or path, downloading the publisher's file when it is neither in `dataDir` nor in `home`.
 * @throws ProblemFileError with one sentence and a remedy, for whatever is wrong with the name or the file
 */
export async function openBenchmark(source: DatasetSource): Promise<Benchmark> {
  const { name, sha256, records } = await openDataset(source);
  return {
    name,
    sha256,
    taskIds: [...records.keys()],
    size: records.size,
    problem(taskId) {
      const record = records.get(taskId);
      if (record === undefined)
        throw new ProblemFileError(`${name} has no task ${JSON.stringify(taskId)}.`, 'Check the id.');
      const problem = record.problem();
      const { kind, entryPoint, form, statement, preamble } = problem;
      return {
        taskId: problem.taskId,
        kind,
        entryPoint,
        form,
        statement,
        preamble,
        get visibleTests() {
          return structuredClone(problem.visibleTests);
        },
      };
    },
    countInvalidVisible: knownInvalidVisible(sha256),
  };
}
