import Table from 'cli-table3';
import stringWidth from 'string-width';
import { pad } from './terminal.ts';

const GAP = '  ';

/**
 * Rows of text under their heads, the first column left and the others right: with a frame where that fits into `columns`, else without one, under
 * `shortHead`, which is for narrow terminals.
 */
export function plainTable(input: {
  head: readonly string[];
  shortHead?: readonly string[];
  rows: readonly (readonly string[])[];
  columns: number;
}): string {
  const { head, shortHead = head, rows, columns } = input;
  const table = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    colAligns: head.map((_, i) => (i === 0 ? 'left' : 'right')),
  });
  table.push(...rows.map((row) => [...row]));
  const framed = table.toString();
  return stringWidth(framed.split('\n')[0] ?? '') <= columns ? framed : bare([shortHead, ...rows]);
}

function bare(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))));
  return rows
    .map((row) =>
      `  ${row.map((cell, column) => pad(cell, widths[column] ?? 0, column === 0 ? 'right' : 'left')).join(GAP)}`.trimEnd(),
    )
    .join('\n');
}
