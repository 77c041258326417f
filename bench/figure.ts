/** What a benchmark says: one line a figure. */
export interface Figure {
  bench: string;
  figure: string;
  /** Ours. */
  value: number;
  unit: string;
  /** The same of what it is measured beside; null when it stands alone. */
  reference: number | null;
  /** Ours ÷ reference in time, so smaller is better; null without a reference. */
  ratio: number | null;
  /** What must hold. */
  mark?: { of: 'value' | 'ratio'; atMost: number } | { of: 'value' | 'ratio'; atLeast: number } | undefined;
}

export type Report = (figure: Omit<Figure, 'bench'>) => void;

/** What a benchmark is run with. */
export interface BenchOptions {
  /** Measurements of each figure, of which the median counts. */
  rounds: number;
  /** Multiplies sample counts: for trying the bench itself. */
  scale: number;
  /** Tasks of those benches that take a sample of them; undefined for their own number. */
  tasks?: number | undefined;
  /** Whether a figure of this name is asked for. */
  wanted: (figure: string) => boolean;
  report: Report;
  note: (line: string) => void;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = sorted.length % 2 === 1 ? [middle, middle] : [middle - 1, middle];
  const [first, second] = [sorted[low], sorted[high]];
  if (first === undefined || second === undefined) throw new RangeError('nothing was measured');
  return (first + second) / 2;
}

/** Measures each contender once a round, in turn, so that a slow quarter of an hour hits all of them; gives medians by name. */
export async function interleaved(
  rounds: number,
  contenders: Record<string, () => Promise<number>>,
): Promise<(name: string) => number> {
  const measured: [string, number][] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, measure] of Object.entries(contenders)) measured.push([name, await measure()]);
  }
  return (wanted) => median(measured.flatMap(([name, value]) => (name === wanted ? [value] : [])));
}

/** Whether a figure keeps its mark; undefined without one. */
export function kept({ value, ratio, mark }: Figure): boolean | undefined {
  if (mark === undefined) return undefined;
  const measured = mark.of === 'value' ? value : (ratio ?? Number.NaN);
  return 'atMost' in mark ? measured <= mark.atMost : measured >= mark.atLeast;
}

/** The line that scripts read; at most three decimals. */
export function figureLine(figure: Figure): string {
  const { bench, figure: name, value, unit, reference, ratio, mark } = figure;
  return JSON.stringify({
    bench,
    figure: name,
    value: round(value),
    unit,
    reference: round(reference),
    ratio: round(ratio),
    ...(mark === undefined ? {} : { mark, kept: kept(figure) }),
  });
}

/** The same for people, a row of columns of fixed width. */
export function figureRow(figure: Figure): string {
  const { figure: name, value, unit, reference, ratio, mark } = figure;
  const shown = (number: number | null) => (number === null ? '' : String(round(number)));
  const beside = reference === null ? '' : `beside ${shown(reference)}`;
  const target = mark === undefined ? '' : 'atMost' in mark ? `≤ ${mark.atMost}` : `≥ ${mark.atLeast}`;
  const verdict = mark === undefined ? '' : kept(figure) ? 'kept' : 'MISSED';
  const times = ratio === null ? '' : `× ${shown(ratio)}`;
  return [name.padEnd(52), `${shown(value)} ${unit}`.padEnd(22), beside.padEnd(16), times.padEnd(9), target, verdict]
    .join(' ')
    .trimEnd();
}

function round(value: number): number;
function round(value: number | null): number | null;
function round(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}
