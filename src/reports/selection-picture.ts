import { bitAt } from '../selection/bit-matrix.ts';
import type { GradedPool } from '../selection/evaluate-pools.ts';
import type { Selection } from '../selection/methods.ts';
import type { MatrixFile } from '../selection/read-matrix.ts';
import type { Row } from '../selection/select-pool.ts';
import { type CurvePoint, testCurve } from '../selection/test-curve.ts';

/** More matrices than a person looks at; a page of them all would be tens of megabytes. */
const MOST_MATRICES = 24;
/** Rows and columns drawn of one matrix; the rest is below what a screen shows. */
const MOST_CELLS = 600;
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#999999'];

interface PicturedPool {
  name: string;
  file: MatrixFile;
  selections: Map<Row, Selection>;
}

/** One HTML page without scripts: pass@1 against the number of tests, and matrices sorted by score and weight. */
export function selectionPicture(input: {
  pools: readonly PicturedPool[];
  graded: readonly GradedPool[];
  curve?: { rows: readonly Row[]; seed: number } | undefined;
}): string {
  const { pools, graded, curve } = input;
  const parts: string[] = [];
  if (curve !== undefined && graded.some(({ matrix }) => matrix.bits.columns > 0)) {
    const lines = curve.rows.map((row) => ({
      method: row,
      points: testCurve({ pools: graded, row, seed: curve.seed }),
    }));
    parts.push('<h2>Pass@1 against the number of tests</h2>', curveSvg(lines));
  }
  const shown = pools.slice(0, MOST_MATRICES);
  for (const pool of shown) parts.push(matrixFigure(pool));
  if (shown.length < pools.length) parts.push(`<p>${pools.length - shown.length} more matrices are not drawn.</p>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Selection</title>
<style>body{font:15px/1.4 system-ui,sans-serif;margin:2em;max-width:75em}svg{background:#fff;border:1px solid #ccc;max-width:100%}figure{margin:1em 0}text{font:12px system-ui,sans-serif}</style>
</head><body><h1>Selection</h1>
${parts.join('\n')}
</body></html>
`;
}

/** Rows best first, columns heaviest first, by the first method that weighs tests (else the first). */
function matrixFigure({ name, file, selections }: PicturedPool): string {
  const entries = [...selections];
  const [method, selection] = entries.find(([, found]) => found.tests !== undefined) ?? entries[0] ?? [];
  if (method === undefined || selection === undefined) return '';
  const { bits } = file.matrix;
  const rows = selection.order.slice(0, MOST_CELLS);
  const weights = selection.tests?.weights;
  const columns = Array.from({ length: bits.columns }, (_, test) => test)
    .sort((a, b) => (weights?.[b] ?? 0) - (weights?.[a] ?? 0) || a - b)
    .slice(0, MOST_CELLS);
  const cell = Math.max(1, Math.min(8, Math.floor(900 / Math.max(1, columns.length))));
  const line = Math.max(1, Math.min(8, Math.floor(400 / Math.max(1, rows.length))));
  const [left, top] = [14, 44];
  const heaviest = Math.max(1e-12, ...columns.map((column) => weights?.[column] ?? 0));
  const shapes: string[] = [];
  columns.forEach((column, x) => {
    const height = (40 * (weights?.[column] ?? 0)) / heaviest;
    if (height > 0.05)
      shapes.push(
        `<rect x="${left + x * cell}" y="${(top - 2 - height).toFixed(1)}" width="${cell}" height="${height.toFixed(1)}" fill="#777"/>`,
      );
  });
  rows.forEach((row, y) => {
    const label = file.correct?.[row];
    if (label !== undefined)
      shapes.push(
        `<rect x="0" y="${top + y * line}" width="10" height="${line}" fill="${label ? '#009e73' : '#d55e00'}"/>`,
      );
    // Neighbouring passes are one shape.
    for (let x = 0; x < columns.length; ) {
      let end = x;
      while (end < columns.length && bitAt(bits, row, columns[end] ?? 0) === 1) end++;
      if (end > x)
        shapes.push(
          `<rect x="${left + x * cell}" y="${top + y * line}" width="${(end - x) * cell}" height="${line}" fill="#0072b2"/>`,
        );
      x = Math.max(end, x + 1);
    }
  });
  const labels = file.correct === undefined ? '' : ' Left edge: green programs are right, red ones wrong.';
  return `<figure><h2>${escaped(name)}</h2><svg viewBox="0 0 ${left + columns.length * cell} ${top + rows.length * line}" width="${left + columns.length * cell}" role="img">${shapes.join('')}</svg>
<figcaption>${bits.rows} programs × ${bits.columns} tests by ${method}: best program at the top, heaviest test on the left (bars), blue passes.${labels}</figcaption></figure>`;
}

function curveSvg(lines: { method: Row; points: CurvePoint[] }[]): string {
  const [width, height, left, bottom] = [720, 320, 48, 32];
  const most = Math.max(2, ...lines.flatMap(({ points }) => points.map(({ tests }) => tests)));
  const best = Math.max(0.05, ...lines.flatMap(({ points }) => points.map(({ passAt1 }) => passAt1)));
  const x = (tests: number) => left + ((width - left - 110) * Math.log(tests)) / Math.log(most);
  const y = (value: number) => height - bottom - ((height - bottom - 16) * value) / best;
  const shapes: string[] = [];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const at = y(share * best).toFixed(1);
    shapes.push(
      `<line x1="${left}" x2="${width - 110}" y1="${at}" y2="${at}" stroke="#ddd"/><text x="${left - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${(share * best * 100).toFixed(0)} %</text>`,
    );
  }
  for (const { tests } of lines[0]?.points ?? [])
    shapes.push(`<text x="${x(tests).toFixed(1)}" y="${height - 12}" text-anchor="middle">${tests}</text>`);
  const ends = lines
    .map(({ method, points }, at) => ({
      method,
      points,
      colour: COLOURS[at % COLOURS.length] ?? '#000',
      end: y(points.at(-1)?.passAt1 ?? 0),
    }))
    .sort((a, b) => a.end - b.end);
  let lowest = 0;
  for (const { method, points, colour, end } of ends) {
    // Names that would lie on each other are moved down.
    lowest = Math.max(end, lowest + 14);
    shapes.push(
      `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.map(({ tests, passAt1 }) => `${x(tests).toFixed(1)},${y(passAt1).toFixed(1)}`).join(' ')}"/><text x="${width - 104}" y="${lowest.toFixed(1)}" fill="${colour}" dominant-baseline="middle">${method}</text>`,
    );
  }
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" role="img">${shapes.join('')}</svg><p>Tests kept of each pool (log scale), drawn at random; tie-aware pass@1. mbr-exec and srank see the outputs for all inputs throughout.</p>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
