import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ProblemFileError } from './problem-file-error.ts';

/**
 * The folder with the datasets: the flag, else `QUALITYFLOW_DATA_DIR`, else undefined (then they are downloaded).
 * @throws ProblemFileError when the one that was named is no folder
 */
export function resolveDataDir({
  flag,
  env,
}: {
  flag?: string | undefined;
  env: Record<string, string | undefined>;
}): string | undefined {
  const named = flag ?? env.QUALITYFLOW_DATA_DIR;
  if (named === undefined || named === '') return undefined;
  const folder = resolve(named);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  const source = flag === undefined ? 'QUALITYFLOW_DATA_DIR' : '--data-dir';
  throw new ProblemFileError(
    `${source} names ${folder}, which is no folder.`,
    'Name the folder that holds humaneval/ and mbpp/.',
  );
}
