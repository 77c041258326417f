import type { OutputRow, StdioRow } from '../sandbox/sandbox.ts';
import { bounded, PRINTED_CHARS, VALUE_CHARS } from './bounded.ts';
import type { TestResult } from './verdict.ts';

type Failure = Pick<TestResult, 'status' | 'exception'>;

/** What a row that is not a value means for the test it belongs to. */
export function describeFailure(
  row: Exclude<OutputRow, { kind: 'value' }> | Exclude<StdioRow, { kind: 'value' }>,
): Failure {
  switch (row.kind) {
    case 'exception':
      return { status: 'error', exception: describeException(row) };
    case 'crash':
      return { status: 'error', exception: bounded(`crash: ${row.detail}`, VALUE_CHARS) };
    case 'timeout':
    case 'memory_limit':
    case 'output_limit':
    case 'not_run':
      return { status: row.kind };
  }
}

/** What was printed in these calls together, bounded; nothing where nothing was. */
export function printedIn(rows: readonly (OutputRow | undefined)[]): Pick<TestResult, 'printed'> {
  const text = rows.map((row) => (row !== undefined && 'printed' in row ? (row.printed ?? '') : '')).join('');
  return text === '' ? {} : { printed: bounded(text, PRINTED_CHARS) };
}

export function isNearLimit(row: OutputRow | undefined): boolean {
  return row !== undefined && 'nearLimit' in row && row.nearLimit === true;
}

/** `ValueError: boom (line 3)` */
export function describeException(row: { type: string; message: string; line: number }): string {
  const text = bounded(row.message === '' ? row.type : `${row.type}: ${row.message}`, VALUE_CHARS);
  return row.line > 0 ? `${text} (line ${row.line})` : text;
}
