import type { Strategy } from '../spec/spec.ts';
import type { OutcomeRow } from '../store/store.ts';

/** Final runs in which programs were ranked by tests. */
export interface SelectionCounts {
  ranked: number;
  /** There was no usable test: the first programs were taken. */
  unranked: number;
  /** One of the programs that were graded passes. */
  anyPasses: number;
  reverted: number;
  /** Reverts that submit another program than a plain revert. */
  otherThanFirst: number;
}

export type SelectionReport =
  | {
      kind: 'select';
      method: string;
      ranked: number;
      unranked: number;
      otherThanFirst: number;
      /** Runs in which one of the `submit` best programs passes. */
      best: { submit: number; passed: number; share: number | null };
    }
  /** Reverts for want of a test go to the first program; the run's detail says so. */
  | { kind: 'revert'; method: 'aces-o'; reverted: number; otherThanFirst: number };

export function nothingSelected(): SelectionCounts {
  return { ranked: 0, unranked: 0, anyPasses: 0, reverted: 0, otherThanFirst: 0 };
}

export function countSelection(counts: SelectionCounts, row: OutcomeRow): void {
  switch (row.finalStep) {
    case 'selected':
    case 'unranked':
      counts[row.finalStep === 'selected' ? 'ranked' : 'unranked']++;
      if (row.trail.some((entry) => entry.graded.verdict === 'pass')) counts.anyPasses++;
      if (row.submission !== null && (row.trail[row.submission]?.progression ?? 0) > 0) counts.otherThanFirst++;
      break;
    case 'reverted': {
      counts.reverted++;
      const first = row.trail.findIndex((entry) => entry.progression === 0);
      if (row.submission !== Math.max(0, first)) counts.otherThanFirst++;
      break;
    }
  }
}

export function selectionReport(input: {
  strategy: Strategy;
  counts: SelectionCounts;
  share: (passed: number) => number | null;
}): SelectionReport | null {
  const { strategy, counts, share } = input;
  const { ranked, unranked, otherThanFirst, anyPasses, reverted } = counts;
  if (strategy.kind === 'select') {
    const best = { submit: strategy.submit, passed: anyPasses, share: share(anyPasses) };
    return { kind: 'select', method: strategy.method, ranked, unranked, otherThanFirst, best };
  }
  if (strategy.kind !== 'quality-flow' || strategy.onRevert !== 'aces') return null;
  return { kind: 'revert', method: 'aces-o', reverted, otherThanFirst };
}
