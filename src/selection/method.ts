import type { CollapsedMatrix } from './pass-matrix.ts';

/** What the programs of a pool returned, for methods that compare outputs and not verdicts. */
export interface Outputs {
  /** By program, then by input: equal numbers for equal outputs of one input; −1 where the program gave none. */
  values: Int32Array[];
  /** Equal numbers for programs of equal text. */
  textOf: Int32Array;
}

export interface Pool {
  collapsed: CollapsedMatrix;
  outputs?: Outputs | undefined;
  seed: number;
}

/** What a method thinks of a pool: more is better. */
export interface Judgement {
  /** By program. */
  scores: Float64Array;
  /** By test, for methods that weigh tests; the weights of all tests sum to 1. */
  tests?: { weights: Float64Array; looAuc: Float64Array } | undefined;
  /** An order of all programs for those of equal score, where it is not that of the pool. */
  shuffled?: number[] | undefined;
}

export interface Method {
  judge(pool: Pool): Judgement;
  /** Programs that get exactly this score count as not ranked in CodeT's own metric. */
  unrankedScore?: number;
  /** It cannot judge a pool without them. */
  needsOutputs?: true;
}
