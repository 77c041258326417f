import { readDatasetText } from '../problems/dataset-text.ts';
import { didYouMean } from '../problems/suggest.ts';
import { isMethodName, METHOD_NAMES, type MethodName, usableMethods } from '../selection/methods.ts';
import { type MatrixFile, readMatrix } from '../selection/read-matrix.ts';
import { type Row, withPrefilter } from '../selection/select-pool.ts';
import type { TaskPool } from './select-pools.ts';
import { UserError } from './user-error.ts';

/** One matrix a line. */
export async function readPools(path: string): Promise<TaskPool[]> {
  const { text } = await readDatasetText(path);
  const pools = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const file = readOrThrow(line, `${path}:${index + 1}`);
    return [{ taskId: file.taskId ?? `line ${index + 1}`, file }];
  });
  if (pools.length === 0) throw usage(`${path} holds no matrix`);
  return pools;
}

/** @throws UserError that names the file */
export function readOrThrow(text: string, name: string): MatrixFile {
  const reading = readMatrix(text);
  if (reading.kind === 'matrix') return reading.file;
  throw new UserError({ message: `${name}: ${reading.message}`, remedy: reading.remedy, exitCode: 2 });
}

/** Undefined when none is named. */
export function wantedMethods(text: string | undefined): MethodName[] | undefined {
  if (text === undefined) return undefined;
  return [...new Set(text.split(',').map((name) => name.trim()))].map((name) => {
    if (isMethodName(name)) return name;
    throw new UserError({
      message: `There is no method ${JSON.stringify(name)}`,
      remedy: didYouMean(name, METHOD_NAMES, `Choose from ${METHOD_NAMES.join(', ')}`),
      exitCode: 2,
    });
  });
}

/** All that the pools allow (`all`: pools that are run here), unless named; with the prefilter each a second time. */
export function rowsFor(
  wanted: MethodName[] | undefined,
  prefilter: string | undefined,
  files: readonly MatrixFile[] | 'all',
): Row[] {
  const known = (key: 'outputs' | 'faults') => files === 'all' || files.every((file) => file[key] !== undefined);
  const usable = usableMethods({ outputs: known('outputs') });
  const missing = wanted?.find((name) => !usable.includes(name));
  if (missing !== undefined) throw usage(`${missing} compares outputs, and the matrix file has no "outputs"`);
  const names = wanted ?? usable;
  if (prefilter === undefined) return names;
  if (prefilter !== 'static') throw usage(`There is no prefilter ${JSON.stringify(prefilter)}, only "static"`);
  if (!known('faults')) throw usage('--prefilter needs the programs: the matrix file has no "staticFaults"');
  return names.flatMap((name) => [name, withPrefilter(name)]);
}

export function wholeNumber(text: string, flag: string, least: number): number {
  const value = Number(text.trim() === '' ? Number.NaN : text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UserError({
    message: `${flag} takes whole numbers from ${least}, not ${JSON.stringify(text)}`,
    remedy: `Give one such as ${Math.max(least, 1)}`,
    exitCode: 2,
  });
}

export function usage(message: string): UserError {
  return new UserError({ message, remedy: 'See `qualityflow select --help` and docs/selection.md', exitCode: 2 });
}
