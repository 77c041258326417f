import { type OperationalChange, parseOperational } from '../spec/parse-spec.ts';
import type { SweepSpec } from '../spec/spec.ts';
import { numeric, present, specError } from './spec-input.ts';

/** What a sweep that goes on may change: none of it changes results. */
export interface OperationalFlags {
  budgetTokens?: string;
  budgetUsd?: string;
  problems?: string;
  requests?: string;
}

/** Undefined when no flag was given. Throws `UserError` for a value that the spec could not have. */
export function operationalChange(flags: OperationalFlags, spec: SweepSpec): OperationalChange | undefined {
  const budget = present({ tokens: numeric(flags.budgetTokens), usd: numeric(flags.budgetUsd) });
  const concurrency = present({ problems: numeric(flags.problems), requests: numeric(flags.requests) });
  if (Object.keys({ ...budget, ...concurrency }).length === 0) return undefined;
  const parsed = parseOperational({ budget, concurrency }, spec);
  if (parsed.kind === 'problems') throw specError(undefined, parsed.problems);
  return parsed.change;
}
