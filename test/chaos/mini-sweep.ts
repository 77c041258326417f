import type { FaultPlanInput } from '../../src/models/scripted/faults.ts';

export const STRATEGIES = ['quality-flow', 'select'] as const;
export type ChaosStrategy = (typeof STRATEGIES)[number];

export interface MiniSweep {
  name: string;
  endpoint: string;
  /** Problems open at once; all of them when absent. */
  open?: number;
  strategy?: ChaosStrategy;
}

const OPTIONS: Record<ChaosStrategy, object> = {
  'quality-flow': {
    kind: 'quality-flow',
    checker: 'python',
    diversified: 2,
    tests: { queries: 1, perQuery: 6 },
    debugEpochs: 2,
    clarifierAttempts: 1,
  },
  select: { kind: 'select', programs: 14, tests: { queries: 4, perQuery: 6 }, method: 'codet', submit: 2 },
};

/** Few problems that reach every step of the method, with programs that run in Docker, and short waits. */
export function miniSweep({ name, endpoint, open = 6, strategy = 'quality-flow' }: MiniSweep): object {
  return {
    name,
    benchmark: 'mini',
    shuffle: 3,
    limit: 6,
    strategy: OPTIONS[strategy],
    model: { name: 'scripted', endpoint, requestTimeoutMs: 1000 },
    concurrency: { problems: open, requests: 6 },
  };
}

/** Failures pass at the second arrival; completions of no use stay so: the sweep ends alike however often it is killed. */
export const FAULTS: FaultPlanInput = [
  { kind: 'status', status: 429, share: 0.03, firstArrivals: 1, retryAfter: { as: 'ms', ms: 300 } },
  { kind: 'status', status: 503, share: 0.03, seed: 1, firstArrivals: 1 },
  { kind: 'cut', share: 0.03, firstArrivals: 1 },
  { kind: 'reset', share: 0.03, firstArrivals: 1 },
  { kind: 'hang', share: 0.01, firstArrivals: 1 },
  { kind: 'error-in-200', status: 429, share: 0.01, firstArrivals: 1 },
  { kind: 'html', share: 0.01, firstArrivals: 1 },
  { kind: 'truncated', share: 0.03 },
  { kind: 'content-null', share: 0.02 },
  { kind: 'refusal', share: 0.02 },
  { kind: 'reasoning-only', share: 0.02 },
  { kind: 'finish-reason', finishReason: 'eos', share: 0.05 },
  { kind: 'slow', waitMs: 400, share: 0.1 },
];

export const LATENCY_MS = 40;
