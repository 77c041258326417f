import type { ModelSettings } from '../models/model.ts';
import type { MethodName } from '../selection/methods.ts';

/** QualityFlow's switches (algorithms 1.6 O); every field has a default, `standard` and `relaxed` are presets. */
export interface QualityFlowOptions {
  kind: 'quality-flow';
  /** `imagined` = Standard; `python` = Relaxed (executes visible tests; HumanEval(+) and benchmarks whose visible tests are not the hidden ones); `critic` = yes/no classifier. */
  checker: 'imagined' | 'python' | 'critic' | 'none';
  /** Number of generator prompts, and so of progressions: 1..6. */
  diversified: number;
  tests: { queries: number; perQuery: number; shared: boolean };
  tqc: boolean;
  debugEpochs: number;
  /** false: each epoch restarts from the generator's program (literal Algorithm 1); true: from the epoch before. */
  carryForward: boolean;
  clarifier: boolean;
  clarifierAttempts: number;
  revert: boolean;
  /** What a revert submits: the first program, or the one that ACES ranks first by the synthesised tests. Absent in sweeps of before: `first`. */
  onRevert?: 'first' | 'aces' | undefined;
  checkerSeesProblem: boolean;
}

/** Many programs and the model's own tests, both drawn at T 0.8 and top-p 0.95; the programs that a method ranks first are submitted. */
export interface SelectOptions {
  kind: 'select';
  /** Programs drawn: 1 to `MOST_PROGRAMS`. */
  programs: number;
  /** `queries × perQuery` asserts are asked for, at most 500; equal ones count as one with a multiplicity. 0 queries: no tests. */
  tests: { queries: number; perQuery: number };
  method: MethodName;
  /** `static`: programs that cannot be right by their text come last (`src/selection/prefilter.ts`). */
  prefilter: 'none' | 'static';
  /** So many of the best are graded, or all where there are fewer; the first is the submission. */
  submit: number;
}

export type Strategy = { kind: 'zero-shot' } | QualityFlowOptions | SelectOptions;

/** A validated sweep spec with every default filled in. */
export interface SweepSpec {
  name: string;
  /** A `BenchmarkName` or the path of an own JSONL file. */
  benchmark: string;
  /** Explicit task ids; else the whole benchmark. */
  tasks?: string[] | undefined;
  /** Seed of a shuffle applied before `limit`. */
  shuffle?: number | undefined;
  limit?: number | undefined;
  strategy: Strategy;
  model: ModelSettings;
  /** Independent runs of the strategy a task. */
  samples: number;
  seed: number;
  /** Operational (this and what follows): may change on resume, not part of the identity. */
  concurrency: { problems: number; requests: number };
  /** Hard, run-wide. `usd` needs `prices`. */
  budget: { tokens?: number | undefined; usd?: number | undefined };
  /** US$ per million tokens. */
  prices?: { prompt: number; completion: number } | undefined;
  /** Longest pause asked for by the endpoint (Retry-After) that a problem sits out, in ms; a longer one ends it as `infra`. */
  maxWaitMs: number;
}
