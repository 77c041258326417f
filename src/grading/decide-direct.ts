import type { EncodedValue, OutputRow } from '../sandbox/sandbox.ts';
import { bounded, TEST_CHARS } from './bounded.ts';
import { describeFailure } from './describe-row.ts';
import type { TestResult } from './verdict.ts';

/**
 * A test that one call decides (`CollectedTest.expected`), without a judge: by the call's row, as a replay of the test would end. Undefined
 * where encodings alone do not tell. `brief`: a surely different value is `fail` and no more; else the judge says what was got and wanted.
 */
export function decideDirect(
  test: { label: string; expected?: EncodedValue | undefined },
  row: OutputRow,
  { brief }: { brief: boolean },
): TestResult | undefined {
  const { label, expected } = test;
  const named = bounded(label, TEST_CHARS);
  if (expected === undefined) return undefined;
  if (row.kind !== 'value') return { ...describeFailure(row), test: named };
  if (row.value === expected && equalsItself(expected)) return { status: 'pass', test: named };
  return brief && surelyDiffers(row.value, expected) ? { status: 'fail', test: named } : undefined;
}

/** NaN, arrays, iterators and opaque objects do not equal themselves, and objects of subclasses need not. */
function equalsItself(value: EncodedValue): boolean {
  return !/nan|\{"[oagnu]":/.test(value);
}

const FLOAT = /^\{"f":"([^"]*)"\}$/;

/** Whether two values differ by Python's `==`, as far as their text says: numbers, and lists and tuples of plain values. */
export function surelyDiffers(a: EncodedValue, b: EncodedValue): boolean {
  const [first, second] = [numberOf(a), numberOf(b)];
  if (first !== undefined && second !== undefined) return first !== second;
  const [left, right] = [plainOf(a), plainOf(b)];
  if (left === undefined || right === undefined || left === right) return false;
  // True equals 1; beside that, equal plain values have equal texts.
  return typeOf(left) !== typeOf(right) || !/true|false/.test(left + right);
}

function typeOf(plain: EncodedValue): string {
  const first = plain.charAt(0);
  return '["{n'.includes(first) ? first : 'number';
}

/** Integers of plain JSON are exact; larger ones are not read. */
function numberOf(value: EncodedValue): number | undefined {
  if (value === 'true' || value === 'false') return Number(value === 'true');
  if (/^-?\d+$/.test(value)) return Number(value);
  const float = FLOAT.exec(value)?.[1];
  if (float === undefined) return undefined;
  if (float === 'nan') return Number.NaN;
  return Number(float.replace('inf', 'Infinity'));
}

/** Text of plain JSON, or of a tuple of it, which no list equals. */
function plainOf(value: EncodedValue): string | undefined {
  const inner = value.startsWith('{"t":') ? value.slice(5, -1) : value;
  return inner.includes('{') ? undefined : value;
}
