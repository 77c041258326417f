import type { ModelSettings } from '../models/model.ts';

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
  checkerSeesProblem: boolean;
}

export type Strategy = { kind: 'zero-shot' } | QualityFlowOptions;

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
