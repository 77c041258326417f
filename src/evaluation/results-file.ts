import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { terminalJson } from '../reports/terminal-safe.ts';
import { type Grade, type ResultLine, resultLine } from './result-line.ts';
import { SamplesError } from './samples-error.ts';

/**
 * The results of one evaluation: JSONL, a line a sample. While it runs, lines are added as programs are graded, so that a run that is killed goes on where
 * it was; at its end the file is written anew in the samples' order, in one step.
 */
export class ResultsFile {
  readonly #path: string;
  #open: number | undefined;
  #stranger: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Grades by sha of task and program that an earlier run of the same grader left here. The last line may be torn.
   * @throws SamplesError when the file holds something else: it would be overwritten
   */
  earlier(grader: string): Map<string, Grade> {
    const grades = new Map<string, Grade>();
    if (!existsSync(this.#path)) return grades;
    const lines = readFileSync(this.#path, 'utf8').split('\n');
    const torn = lines.pop() ?? '';
    for (const [index, line] of lines.entries()) {
      const read = readLine(line);
      if (read === undefined) throw this.#foreign(index + 1);
      if (read.grader !== grader) this.#stranger = read.grader;
      else if (read.verdict !== 'infra') grades.set(read.sha256, read);
    }
    if (lines.length === 0 && torn !== '' && !torn.startsWith('{"task_id":')) throw this.#foreign(1);
    return grades;
  }

  /** Verdicts of another benchmark, grader or limits, if `earlier` met any, go into a file of their own, whose path is given. */
  setStrangersAside(): string | undefined {
    if (this.#stranger === undefined) return undefined;
    const aside = `${this.#path}.${createHash('sha256').update(this.#stranger).digest('hex').slice(0, 8)}`;
    copyFileSync(this.#path, aside);
    this.#stranger = undefined;
    return aside;
  }

  /** Starts with these lines in place of what was there. */
  begin(lines: readonly ResultLine[]): void {
    this.replace(lines);
    this.#open = openSync(this.#path, 'a');
  }

  add(lines: readonly ResultLine[]): void {
    if (this.#open === undefined) throw new Error('the results file is not open');
    writeAll(this.#open, lines);
  }

  replace(lines: readonly ResultLine[]): void {
    this.close();
    const temporary = `${this.#path}.${process.pid}.tmp`;
    try {
      const file = openSync(temporary, 'w');
      try {
        writeAll(file, lines);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(temporary, this.#path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open);
    this.#open = undefined;
  }

  #foreign(line: number): SamplesError {
    return new SamplesError(
      `${this.#path}:${line} is no line of results, and the file would be overwritten`,
      'Name another file with --out, or remove this one',
    );
  }
}

function readLine(line: string): ResultLine | undefined {
  try {
    return resultLine.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Programs' values and messages stand in these lines: what a terminal would obey is escaped. */
function writeAll(file: number, lines: readonly ResultLine[]): void {
  const data = Buffer.from(lines.map((line) => `${terminalJson(JSON.stringify(line))}\n`).join(''));
  for (let at = 0; at < data.length; ) at += writeSync(file, data, at);
}
