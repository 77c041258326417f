import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DATASET_FILES, type DatasetName } from './dataset-files.ts';
import { readDatasetText } from './dataset-text.ts';
import { downloadDataset } from './download.ts';
import { Fields } from './entries.ts';
import { BENCHMARKS, type BenchmarkName } from './problem.ts';
import { ProblemFileError } from './problem-file-error.ts';
import { humaneval } from './readers/humaneval.ts';
import { humanevalPlus } from './readers/humaneval-plus.ts';
import { mbpp } from './readers/mbpp.ts';
import { mbppPlus } from './readers/mbpp-plus.ts';
import { mbppSanitized } from './readers/mbpp-sanitized.ts';
import { ownJsonl } from './readers/own-jsonl.ts';
import { didYouMean } from './suggest.ts';
import type { Reader, TaskRecord } from './task-record.ts';

/** Where a benchmark comes from. */
export interface DatasetSource {
  /** A `BenchmarkName`, or the path of an own JSONL file, plain or gzip. */
  benchmark: string;
  /** Folder with the publishers' files (see `DATASET_FILES`); without it they are looked for, and kept, in `<home>/data/`. */
  dataDir?: string | undefined;
  /** The state folder. */
  home: string;
  /** `false` forbids the download; `urls` replaces the publishers' addresses (a mirror). */
  download?: false | { urls?: Partial<Record<DatasetName, string>> } | undefined;
}

/** A whole dataset, both halves of every task. Never leaves this folder: `benchmark.ts` and `hidden.ts` show one half each. */
export interface Dataset {
  name: string;
  path: string;
  sha256: string;
  /** In file order. */
  records: Map<string, TaskRecord>;
}

const MINI = join(import.meta.dirname, 'mini', 'mini.jsonl');

const READERS: Record<BenchmarkName, Reader> = {
  humaneval,
  'humaneval+': humanevalPlus,
  mbpp,
  'mbpp-sanitized': mbppSanitized,
  'mbpp+': mbppPlus,
  mini: ownJsonl,
};

/** Datasets read by this process, by file, size and time of change: a changed file is read again. */
const opened = new Map<string, Promise<Dataset>>();

/** @throws ProblemFileError at the first thing that is wrong */
export async function openDataset(source: DatasetSource): Promise<Dataset> {
  const path = await locateDataset(source);
  const { size, mtimeMs, ino } = await stat(path);
  const key = JSON.stringify([source.benchmark, path, size, mtimeMs, ino]);
  let dataset = opened.get(key);
  if (dataset === undefined) {
    dataset = loadDataset(source.benchmark, path);
    opened.set(key, dataset);
    dataset.catch(() => opened.delete(key));
  }
  return dataset;
}

async function loadDataset(name: string, path: string): Promise<Dataset> {
  const { text, sha256 } = await readDatasetText(path);
  const records = new Map<string, TaskRecord>();
  for (const outcome of readRecords({ name, path, text })) {
    if (outcome instanceof ProblemFileError) throw outcome;
    records.set(outcome.taskId, { ...outcome, problem: once(() => outcome.problem()) });
  }
  return { name, path, sha256, records };
}

/** Reading the examples of a docstring parses it: once a process, not once an activity. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Every record of a file, or what is wrong with it; at the end, what is wrong with the whole. */
export function* readRecords({
  name,
  path,
  text,
}: {
  name: string;
  path: string;
  text: string;
}): Generator<TaskRecord | ProblemFileError> {
  const reader = isBenchmarkName(name) ? READERS[name] : ownJsonl;
  const seen = new Map<string, string>();
  let broken = 0;
  for (const entry of reader.entries(text, path)) {
    try {
      const record = reader.read(Fields.of(entry));
      if (record === undefined) continue;
      const first = seen.get(record.taskId);
      if (first !== undefined) {
        throw new ProblemFileError(
          `${record.where}: the id ${JSON.stringify(record.taskId)} stands already at ${first}.`,
          'Give every task an id of its own.',
        );
      }
      seen.set(record.taskId, record.where);
      yield record;
    } catch (error) {
      if (!(error instanceof ProblemFileError)) throw error;
      broken++;
      yield error;
    }
  }
  if (broken > 0) return;
  if (seen.size === 0) yield new ProblemFileError(`${path} holds no task.`, 'Put one JSON object on each line.');
  else if (reader.size !== undefined && seen.size !== reader.size) {
    yield new ProblemFileError(
      `${path} holds ${seen.size} tasks of ${name}, not ${reader.size}.`,
      'The file is incomplete or another edition: fetch it again.',
    );
  }
}

/**
 * The file of a benchmark, downloaded if need be.
 * @throws ProblemFileError for an unknown name or a missing file
 */
export async function locateDataset(source: DatasetSource): Promise<string> {
  const { benchmark, dataDir, home, download } = source;
  if (!isBenchmarkName(benchmark)) return locateOwn(benchmark);
  if (benchmark === 'mini') return MINI;
  const file = DATASET_FILES[benchmark];
  if (dataDir !== undefined) {
    const found = plainOrGzip(join(dataDir, file.path));
    if (found !== undefined) return found;
    throw new ProblemFileError(
      `${dataDir} lacks ${file.path}(.gz), the data of ${benchmark}.`,
      'Put it there, or leave out --data-dir to download it.',
    );
  }
  const kept = plainOrGzip(join(home, 'data', file.path));
  if (kept !== undefined && (await isIntact(kept, file.sha256))) return kept;
  if (download === false) {
    throw new ProblemFileError(
      `The data of ${benchmark} is not here.`,
      'Run `qualityflow setup`, or give its folder with --data-dir.',
    );
  }
  return downloadDataset({ file: { ...file, url: download?.urls?.[benchmark] ?? file.url }, home });
}

/** Kept files whose content this process has compared, by path, size and time of change. */
const intact = new Set<string>();

/** Whether a downloaded file still holds what it must; one that was cut off or changed is fetched again. */
async function isIntact(path: string, sha256: string): Promise<boolean> {
  const { size, mtimeMs } = await stat(path);
  const key = JSON.stringify([path, size, mtimeMs, sha256]);
  if (intact.has(key)) return true;
  try {
    if ((await readDatasetText(path)).sha256 !== sha256) return false;
  } catch (error) {
    if (error instanceof ProblemFileError) return false;
    throw error;
  }
  intact.add(key);
  return true;
}

function locateOwn(benchmark: string): string {
  const path = resolve(benchmark);
  if (existsSync(path)) return path;
  if (/[\\/]|\.(jsonl?|gz)$/.test(benchmark))
    throw new ProblemFileError(`There is no file ${path}.`, 'Check the path of the benchmark.');
  const otherwise = `Known are ${BENCHMARKS.join(', ')}; anything else is the path of a JSONL file.`;
  throw new ProblemFileError(
    `Unknown benchmark ${JSON.stringify(benchmark)}.`,
    didYouMean(benchmark, BENCHMARKS, otherwise),
  );
}

export function isBenchmarkName(text: string): text is BenchmarkName {
  return BENCHMARKS.some((name) => name === text);
}

function plainOrGzip(path: string): string | undefined {
  return [`${path}.gz`, path].find((candidate) => existsSync(candidate));
}
