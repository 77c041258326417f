/** The search attributes, exactly these (architecture §9), with their keys; importable from workflow code. */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';

export type Stage =
  | 'generate'
  | 'check'
  | 'design-tests'
  | 'filter-tests'
  | 'debug'
  | 'clarify'
  | 'select'
  | 'revert'
  | 'score'
  | 'blocked';

export const SweepIdKey = defineSearchAttributeKey('SweepId', 'KEYWORD');
export const BenchmarkKey = defineSearchAttributeKey('Benchmark', 'KEYWORD');
export const TaskIdKey = defineSearchAttributeKey('TaskId', 'KEYWORD');
export const StrategyKey = defineSearchAttributeKey('Strategy', 'KEYWORD');
export const ModelKey = defineSearchAttributeKey('Model', 'KEYWORD');
export const StageKey = defineSearchAttributeKey('Stage', 'KEYWORD');
export const OutcomeKey = defineSearchAttributeKey('Outcome', 'KEYWORD');
export const TokensKey = defineSearchAttributeKey('Tokens', 'INT');

export const SEARCH_ATTRIBUTES = [
  SweepIdKey,
  BenchmarkKey,
  TaskIdKey,
  StrategyKey,
  ModelKey,
  StageKey,
  OutcomeKey,
  TokensKey,
] as const;

export interface SweepLabels {
  sweep: string;
  benchmark: string;
  strategy: string;
  model: string;
}

export function sweepAttributes({ sweep, benchmark, strategy, model }: SweepLabels): SearchAttributePair[] {
  return [
    { key: SweepIdKey, value: keyword(sweep) },
    { key: BenchmarkKey, value: keyword(benchmark) },
    { key: StrategyKey, value: keyword(strategy) },
    { key: ModelKey, value: keyword(model) },
  ];
}

export function problemAttributes(labels: SweepLabels & { taskId: string }): SearchAttributePair[] {
  return [...sweepAttributes(labels), { key: TaskIdKey, value: keyword(labels.taskId) }];
}

/** SQL visibility keeps at most 255 characters of a keyword and refuses NUL; a value beyond would fail the start of the workflow. */
function keyword(value: string): string {
  return Array.from(value.toWellFormed().replaceAll('\0', '\ufffd')).slice(0, 255).join('');
}
