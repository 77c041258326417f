import { type BitMatrix, bitMatrix, setBit } from './bit-matrix.ts';
import type { Outputs } from './method.ts';
import { type PassMatrix, passMatrix } from './pass-matrix.ts';

/** A pass matrix as it comes from outside, with what may stand beside it. */
export interface MatrixFile {
  matrix: PassMatrix;
  /** Which programs are right, by row; for diagnosis alone. */
  correct?: boolean[] | undefined;
  outputs?: Outputs | undefined;
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
 * `correct`, 0 or 1 for each row; `outputs`, a value of any kind for each cell, null where the program gave none; `programs` and `tests`,
 * names. No program is invalid. No test (`[[], []]`) is valid: every method then holds all programs equal.
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
  const file: MatrixFile = { matrix: passMatrix(bits, readCounts(value.weights, bits)) };
  if (value.correct !== undefined) {
    file.correct = listOf(value.correct, 'correct', rows, 'program').map((cell, row) => {
      if (!isBit(cell)) throw new Invalid(`"correct" holds ${shown(cell)} for program ${row}`, 'Give 0 or 1');
      return cell === 1;
    });
  }
  if (value.outputs !== undefined) file.outputs = readOutputs(value.outputs, bits);
  if (value.programs !== undefined) file.programs = readNames(value.programs, 'programs', rows, 'program');
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
  const counts = value.map((count: unknown, at): number => {
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1)
      throw new Invalid(
        `"weights" holds ${shown(count)} at ${at}`,
        'Give whole numbers from 1: they are multiplicities',
      );
    return count;
  });
  return counts.length === rows ? { rows: counts } : { columns: counts };
}

/** Equal JSON texts are equal outputs. */
function readOutputs(value: unknown, { rows, columns }: BitMatrix): Outputs {
  const numbers = new Map<string, number>();
  const values = listOf(value, 'outputs', rows, 'program').map((line, row) =>
    Int32Array.from(listOf(line, `outputs[${row}]`, columns, 'test'), (output: unknown) => {
      if (output === null) return -1;
      const text = JSON.stringify(output);
      const known = numbers.get(text) ?? numbers.size;
      numbers.set(text, known);
      return known;
    }),
  );
  return { values, textOf: Int32Array.from({ length: rows }, (_, row) => row) };
}

function readNames(value: unknown, key: string, length: number, what: string): string[] {
  return listOf(value, key, length, what).map((name, at) => {
    if (typeof name !== 'string') throw new Invalid(`"${key}" holds ${shown(name)} at ${at}`, 'Give text');
    return name;
  });
}

function listOf(value: unknown, key: string, length: number, what: string): readonly unknown[] {
  if (Array.isArray(value) && value.length === length) return value;
  throw new Invalid(`"${key}" is no list of ${length}`, `Give one entry for each ${what}, or leave the key out`);
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
