import type { HiddenTests } from '../problems/hidden-tests.ts';
import { DEFAULT_LIMITS, type SandboxLimits } from '../sandbox/sandbox.ts';

/**
 * `evalplus`: EvalPlus 0.3.1's. A test has max(1 s, 4 × the canonical solution's time), a program 60 s for all of a run and for its import, and 4 GB;
 * but in CPU seconds, because a busy machine must not turn slow into wrong. `own`: 3 CPU seconds a test and 1 GB.
 */
export const LIMITS_MODES = ['evalplus', 'own'] as const;
export type LimitsMode = (typeof LIMITS_MODES)[number];

/** EvalPlus's tasks return up to megabytes a test. */
const EVALPLUS_OUTPUT_BYTES = 256 << 20;

export const EVALPLUS_LIMITS: SandboxLimits = {
  cpuSeconds: 1,
  loadCpuSeconds: 60,
  totalCpuSeconds: 60,
  memoryBytes: 4 * 2 ** 30,
  outputBytes: EVALPLUS_OUTPUT_BYTES,
};

/** A test that the canonical solution takes `seconds` for has this many times as much, where that is more than `cpuSeconds`. */
export const EVALPLUS_TIME_FACTOR = 4;

/** What published numbers of a benchmark rest on: EvalPlus's limits for its own, `own` elsewhere. */
export function usualLimits(hidden: Pick<HiddenTests, 'kind'>): LimitsMode {
  return hidden.kind === 'evalplus' ? 'evalplus' : 'own';
}

export function sandboxLimits(mode: LimitsMode, hidden: Pick<HiddenTests, 'kind'>): SandboxLimits {
  if (mode === 'evalplus') return EVALPLUS_LIMITS;
  return hidden.kind === 'evalplus' ? { ...DEFAULT_LIMITS, outputBytes: EVALPLUS_OUTPUT_BYTES } : DEFAULT_LIMITS;
}
