import { type BitMatrix, bitMatrix } from './bit-matrix.ts';
import { isMethodName, type MethodName, type Selection, select } from './methods.ts';
import { collapse, passMatrix } from './pass-matrix.ts';
import { withoutFaults } from './prefilter.ts';
import type { MatrixFile } from './read-matrix.ts';
import { seedFor } from './seeded.ts';

/** A method, alone or over the programs that the static prefilter leaves. */
export type Row = MethodName | `${MethodName}+static`;

export function withPrefilter(name: MethodName): Row {
  return `${name}+static`;
}

/** With the prefilter, programs that it drops share the last place; the tests are weighed by those that stay. */
export function selectPool(row: Row, file: MatrixFile, givenSeed: number): Selection {
  const seed = file.taskId === undefined ? givenSeed : seedFor(file.taskId, givenSeed);
  if (isMethodName(row)) return select(row, { collapsed: collapse(file.matrix), outputs: file.outputs, seed });
  const name = row.slice(0, -'+static'.length);
  if (!isMethodName(name) || file.faults === undefined) throw new Error(`${row} needs to know the faults of programs`);
  const stays = withoutFaults(file.faults);
  const kept = [...stays.keys()].filter((program) => stays[program]);
  const dropped = [...stays.keys()].filter((program) => !stays[program]);
  const { bits, rowCounts, columnCounts } = file.matrix;
  const counts = { rows: kept.map((program) => rowCounts[program] ?? 1), columns: columnCounts };
  const { outputs } = file;
  const inner = select(name, {
    collapsed: collapse(passMatrix(pickRows(bits, kept), counts)),
    outputs: outputs && {
      values: kept.map((program) => outputs.values[program] ?? new Int32Array()),
      textOf: Int32Array.from(kept, (program) => outputs.textOf[program] ?? 0),
    },
    seed,
  });
  const back = (groups: number[][]) => groups.map((group) => group.map((at) => kept[at] ?? 0));
  const last = dropped.length === 0 ? [] : [dropped];
  const groups = [...back(inner.groups), ...last];
  const scores = new Float64Array(stays.length).fill(Number.NEGATIVE_INFINITY);
  kept.forEach((program, at) => {
    scores[program] = inner.scores[at] ?? 0;
  });
  // Where the method ranks nobody, CodeT's metric draws from all: here, from all that stay.
  const rankedGroups = inner.rankedGroups.length === 0 ? [kept] : back(inner.rankedGroups);
  return { scores, tests: inner.tests, groups, order: groups.flat(), rankedGroups };
}

function pickRows(bits: BitMatrix, rows: readonly number[]): BitMatrix {
  const picked = bitMatrix({ rows: rows.length, columns: bits.columns });
  rows.forEach((row, to) => {
    picked.words.set(bits.words.subarray(row * bits.rowWords, (row + 1) * bits.rowWords), to * bits.rowWords);
  });
  return picked;
}
