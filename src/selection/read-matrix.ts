import { type BitMatrix, bitMatrix, setBit } from './bit-matrix.ts';
import type { Outputs } from './method.ts';
import { type PassMatrix, passMatrix } from './pass-matrix.ts';

/** A pass matrix as it comes from outside, with what may stand beside it. */
export interface MatrixFile {
  taskId?: string | undefined;
  matrix: PassMatrix;
  /** Which programs are right, by row; for diagnosis alone. */
  correct?: boolean[] | undefined;
  outputs?: Outputs | undefined;
  /** What `staticFault` says of each program. */
  faults?: (string | null)[] | undefined;
  /** Names of rows and columns, for people. */
  programs?: string[] | undefined;
  tests?: string[] | undefined;
}

export type MatrixReading = { kind: 'matrix'; file: MatrixFile } | { kind: 'invalid'; message: string; remedy: string };

/** Programs × tests; a larger matrix does not come from a pool of programs. */
const MAX_CELLS = 2 ** 31;

class Invalid extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/**
 * Reads `{"matrix": [[1,0],[1,1]]}`: a row for each program, a column for each test, cells 0 or 1 and nothing else. Beside it, all optional:
 * `weights`, multiplicities (whole numbers from 1), one for each row, or one for each column where that is the length that fits;
 * `testWeights`, those of columns whatever their number; `correct`, 0 or 1 for each row; `outputs`, for each row what the program returned
 * for each input, null where nothing; `staticFaults`, text or null for each row; `programs` and `tests`, names; `task_id`. No program is invalid. No test (`[[], []]`) is valid: every method then holds all programs equal.
 */
export function readMatrix(text: string): MatrixReading {
  try {
    return { kind: 'matrix', file: readFile(parse(text)) };
  } catch (error) {
    if (error instanceof Invalid) return { kind: 'invalid', message: error.message, remedy: error.remedy };
    throw error;
  }
}

const FORM = 'Give {"matrix": [[1, 0], [1, 1]]}: a row for each program, a column for each test';

function parse(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Invalid(`The matrix file is not JSON: ${reason}`, FORM);
  }
  if (!isRecord(value) || !('matrix' in value)) throw new Invalid('The file holds no key "matrix"', FORM);
  return value;
}

function readFile(value: Record<string, unknown>): MatrixFile {
  const bits = readBits(value.matrix);
  const { rows, columns } = bits;
  const counts = readCounts(value.weights, bits);
  if (value.testWeights !== undefined)
    counts.columns = readMultiplicities(value.testWeights, 'testWeights', columns, 'test');
  const file: MatrixFile = { matrix: passMatrix(bits, counts) };
  if (typeof value.task_id === 'string') file.taskId = value.task_id;
  if (value.correct !== undefined) {
    file.correct = listOf(value.correct, 'correct', rows, 'program').map((cell, row) => {
      if (!isBit(cell)) throw new Invalid(`"correct" holds ${shown(cell)} for program ${row}`, 'Give 0 or 1');
      return cell === 1;
    });
  }
  if (value.programs !== undefined) file.programs = readNames(value.programs, 'programs', rows, 'program');
  if (value.outputs !== undefined) file.outputs = readOutputs(value.outputs, rows, file.programs);
  if (value.staticFaults !== undefined)
    file.faults = listOf(value.staticFaults, 'staticFaults', rows, 'program').map((fault, at) => {
      if (fault !== null && typeof fault !== 'string')
        throw new Invalid(
          `"staticFaults" holds ${shown(fault)} at ${at}`,
          'Give text, or null for a program without a fault',
        );
      return fault;
    });
  if (value.tests !== undefined) file.tests = readNames(value.tests, 'tests', columns, 'test');
  return file;
}

function readBits(value: unknown): BitMatrix {
  if (!Array.isArray(value)) throw new Invalid('"matrix" is no list of rows', FORM);
  if (value.length === 0) throw new Invalid('The matrix holds no program', FORM);
  const lines = value.map((line: unknown, row): readonly unknown[] => {
    if (!Array.isArray(line)) throw new Invalid(`Row ${row} of the matrix is ${shown(line)}, no list`, FORM);
    return line;
  });
  const columns = lines[0]?.length ?? 0;
  if (lines.length * columns > MAX_CELLS)
    throw new Invalid(`The matrix holds ${lines.length} × ${columns} cells, more than 2^31`, 'Give fewer tests');
  const bits = bitMatrix({ rows: lines.length, columns });
  lines.forEach((line, row) => {
    if (line.length !== columns)
      throw new Invalid(`Row ${row} of the matrix has ${line.length} cells, row 0 has ${columns}`, FORM);
    for (let column = 0; column < columns; column++) {
      const cell = line[column];
      if (cell === 1) setBit(bits, row, column);
      else if (cell !== 0)
        throw new Invalid(
          `Row ${row}, column ${column} of the matrix is ${shown(cell)}`,
          'Give 1 where the program passes the test and 0 where it does not',
        );
    }
  });
  return bits;
}

function readCounts(value: unknown, { rows, columns }: BitMatrix): { rows?: number[]; columns?: number[] } {
  if (value === undefined) return {};
  if (!Array.isArray(value) || (value.length !== rows && value.length !== columns))
    throw new Invalid(
      `"weights" is no list of ${rows} numbers, one for each program${rows === columns ? '' : `, or of ${columns}, one for each test`}`,
      'Give how many programs (or tests) each row (or column) stands for',
    );
  return value.length === rows
    ? { rows: readMultiplicities(value, 'weights', rows, 'program') }
    : { columns: readMultiplicities(value, 'weights', columns, 'test') };
}

function readMultiplicities(value: unknown, key: string, length: number, what: string): number[] {
  return listOf(value, key, length, what).map((count, at) => {
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1)
      throw new Invalid(
        `"${key}" holds ${shown(count)} at ${at}`,
        'Give whole numbers from 1: they are multiplicities',
      );
    return count;
  });
}

/** Equal JSON texts are equal outputs; programs of one name are one text. */
function readOutputs(value: unknown, rows: number, programs: readonly string[] | undefined): Outputs {
  const numbers = new Map<string, number>();
  let inputs: number | undefined;
  const values = listOf(value, 'outputs', rows, 'program').map((line, row) => {
    const outputs = listOf(line, `outputs[${row}]`, inputs, 'input');
    inputs = outputs.length;
    return Int32Array.from(outputs, (output: unknown) =>
      output === null ? -1 : numberOf(numbers, JSON.stringify(output)),
    );
  });
  const texts = new Map<string, number>();
  return {
    values,
    textOf: Int32Array.from({ length: rows }, (_, row) => numberOf(texts, programs?.[row] ?? `${row}`)),
  };
}

function numberOf(numbers: Map<string, number>, text: string): number {
  const known = numbers.get(text) ?? numbers.size;
  numbers.set(text, known);
  return known;
}

function readNames(value: unknown, key: string, length: number, what: string): string[] {
  return listOf(value, key, length, what).map((name, at) => {
    if (typeof name !== 'string') throw new Invalid(`"${key}" holds ${shown(name)} at ${at}`, 'Give text');
    return name;
  });
}

/** `length` undefined: any. */
function listOf(value: unknown, key: string, length: number | undefined, what: string): readonly unknown[] {
  if (Array.isArray(value) && (length === undefined || value.length === length)) return value;
  throw new Invalid(
    `"${key}" is no list${length === undefined ? '' : ` of ${length}`}`,
    `Give one entry for each ${what}, or leave the key out`,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBit(value: unknown): value is 0 | 1 {
  return value === 0 || value === 1;
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
