import type { Entry, Fields } from './entries.ts';
import type { HiddenTests } from './hidden-tests.ts';
import type { Problem } from './problem.ts';

/** One task as a reader leaves it: both halves, each made when asked for. Only `benchmark.ts` and `hidden.ts` hand them out, one half each. */
export interface TaskRecord {
  taskId: string;
  /** Where it stands in the file, for messages. */
  where: string;
  problem(): Problem;
  hidden(): HiddenTests;
}

/** How one dataset is read. Everything that can be wrong with a record is found by `read`, so that the two halves cannot fail later. */
export interface Reader {
  entries(text: string, path: string): Iterable<Entry>;
  /**
   * Undefined for a record that is no part of the benchmark (MBPP outside its test split).
   * @throws ProblemFileError
   */
  read(fields: Fields): TaskRecord | undefined;
  /** Tasks of the whole benchmark; undefined where any number will do. */
  size: number | undefined;
}
