import { JsonSplitError, jsonString, splitJsonArray, splitJsonObject } from './json-split.ts';
import { ProblemFileError } from './problem-file-error.ts';

/** One record of a dataset, not read yet. `where` names it in messages: `path:12`. */
export interface Entry {
  where: string;
  text: string;
  /** The last line of a file that does not end in a newline: if it is broken, the file was cut off. */
  unfinished: boolean;
}

/**
 * Lines end at `\n` alone (readline also splits at U+2028, which may stand inside a JSON string); a `\r` before it is dropped and
 * blank lines are passed over. Line numbers count every line from 1.
 */
export function* lineEntries(text: string, path: string): Iterable<Entry> {
  let line = 1;
  for (let start = 0; start < text.length; line++) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const content = text.slice(start, text.charCodeAt(end - 1) === 0x0d ? end - 1 : end);
    if (content.trim() !== '') yield { where: `${path}:${line}`, text: content, unfinished: newline === -1 };
    start = end + 1;
  }
}

/** A file that is one JSON array (sanitized MBPP); entries are numbered from 1. */
export function arrayEntries(text: string, path: string): Iterable<Entry> {
  try {
    return splitJsonArray(text).map(({ raw }, index) => ({
      where: `${path}: entry ${index + 1}`,
      text: raw,
      unfinished: false,
    }));
  } catch (error) {
    if (!(error instanceof JsonSplitError)) throw error;
    const what = error.atEnd ? 'is cut off' : `is not a JSON array: at character ${error.offset + 1}, ${error.message}`;
    throw new ProblemFileError(`${path} ${what}.`, 'Fetch the file again.', error);
  }
}

/** The fields of one record, kept raw until somebody asks for them by kind. */
export class Fields {
  readonly where: string;
  readonly #raw: Map<string, string>;

  private constructor(where: string, raw: Map<string, string>) {
    this.where = where;
    this.#raw = raw;
  }

  /** @throws ProblemFileError when the entry is no JSON object */
  static of(entry: Entry): Fields {
    try {
      return new Fields(entry.where, splitJsonObject(entry.text));
    } catch (error) {
      if (!(error instanceof JsonSplitError)) throw error;
      if (error.atEnd && entry.unfinished) {
        throw new ProblemFileError(
          `${entry.where}: the last line is cut off.`,
          'The file is incomplete: fetch or write it again.',
          error,
        );
      }
      const reason = `at character ${error.offset + 1}, ${error.message}`;
      throw new ProblemFileError(
        `${entry.where}: not a JSON object: ${reason}.`,
        'Every line must hold one JSON object.',
        error,
      );
    }
  }

  keys(): string[] {
    return [...this.#raw.keys()];
  }

  has(key: string): boolean {
    return this.#raw.has(key);
  }

  /** The value as it stands in the file. */
  raw(key: string): string {
    const raw = this.#raw.get(key);
    if (raw === undefined) throw this.#wrong(`the key ${JSON.stringify(key)} is missing`);
    return raw;
  }

  text(key: string): string {
    const raw = this.raw(key);
    const value = jsonString(raw);
    if (value === undefined) throw this.#wrong(`${JSON.stringify(key)} must be a string, not ${kindOf(raw)}`);
    return value;
  }

  /** The raw text of a list, checked to be one. */
  rawList(key: string): string {
    const raw = this.raw(key);
    if (!raw.startsWith('[')) throw this.#wrong(`${JSON.stringify(key)} must be a list, not ${kindOf(raw)}`);
    return raw;
  }

  /** Raw texts of a list's elements. */
  elements(key: string): string[] {
    return splitJsonArray(this.rawList(key)).map((element) => element.raw);
  }

  textList(key: string): string[] {
    return this.elements(key).map((raw, index) => {
      const value = jsonString(raw);
      if (value === undefined)
        throw this.#wrong(`element ${index + 1} of ${JSON.stringify(key)} must be a string, not ${kindOf(raw)}`);
      return value;
    });
  }

  /** The name of a Python function. */
  identifier(key: string): string {
    const value = this.text(key);
    if (!/^[A-Za-z_]\w*$/.test(value))
      throw this.#wrong(`${JSON.stringify(key)} must be the name of a Python function`);
    return value;
  }

  /** A whole number that names something; values of problems never come this way. */
  wholeNumber(key: string): number {
    const raw = this.raw(key);
    if (!/^\d{1,9}$/.test(raw)) throw this.#wrong(`${JSON.stringify(key)} must be a whole number, not ${kindOf(raw)}`);
    return Number(raw);
  }

  #wrong(what: string): ProblemFileError {
    return new ProblemFileError(`${this.where}: ${what}.`, 'Correct that record, or fetch the file again.');
  }
}

/** What a person calls the raw JSON value. */
function kindOf(raw: string): string {
  const first = raw[0];
  if (first === '"') return 'a string';
  if (first === '[') return 'a list';
  if (first === '{') return 'an object';
  if (raw === 'true' || raw === 'false' || raw === 'null') return raw;
  return 'a number';
}

/** Ids may hold `/`, `..` and spaces (they are encoded wherever they become a path or a workflow id), but nothing that a terminal obeys. */
export function checkTaskId(taskId: string, where: string): string {
  if (taskId.trim() === '')
    throw new ProblemFileError(`${where}: the task id is empty.`, 'Give every task a name of its own.');
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(taskId)) {
    throw new ProblemFileError(
      `${where}: the task id ${JSON.stringify(taskId)} holds a control character.`,
      'Use printable characters in ids.',
    );
  }
  return taskId;
}
