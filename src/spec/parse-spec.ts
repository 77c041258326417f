import { dirname, resolve } from 'node:path';
import type { ModelSettings } from '../models/model.ts';
import { BENCHMARKS } from '../problems/problem.ts';
import { didYouMean } from './did-you-mean.ts';
import { durationMs } from './duration.ts';
import { parseStrategy } from './parse-strategy.ts';
import { parseYaml } from './parse-yaml.ts';
import { modelSchema, operationalSchema, sweepSchema } from './schema.ts';
import type { Strategy, SweepSpec } from './spec.ts';
import { describeIssues, type SpecProblem, shown } from './spec-problem.ts';

export type ParsedSpec = { kind: 'spec'; spec: SweepSpec } | { kind: 'problems'; problems: SpecProblem[] };

/** Values given on the command line; each wins over the file. */
export type SpecOverrides = Record<string, unknown>;

/**
 * Reads a sweep spec from YAML or JSON text. `file` is where the text came from: a relative path of an own benchmark counts from its
 * folder. Either a spec with every default filled in, or all that is wrong with it, in the order of the document.
 */
export function parseSpec({
  text,
  file,
  overrides = {},
}: {
  text: string;
  file: string;
  overrides?: SpecOverrides;
}): ParsedSpec {
  const yaml = parseYaml(text);
  if (yaml.kind === 'problems') return yaml;
  if (!isMapping(yaml.value)) {
    return {
      kind: 'problems',
      problems: [{ path: '', message: 'must be a mapping with name, benchmark, strategy and model' }],
    };
  }
  const raw = { ...yaml.value };
  if (typeof raw.benchmark === 'string') raw.benchmark = locateBenchmark(raw.benchmark, dirname(file));
  const parsed = parseSpecValue(mergeOverrides(raw, overrides));
  if (parsed.kind === 'spec') return { kind: 'spec', spec: withGivenReplyLimit(parsed.spec, overrides) };
  const problems = parsed.problems.map((problem) => ({ ...problem, line: yaml.lineOf(splitPath(problem.path)) }));
  return { kind: 'problems', problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}

/** The same for a plain value, as the command line's flags make one. Relative benchmark paths must be resolved already. */
export function parseSpecValue(raw: Record<string, unknown>): ParsedSpec {
  const problems: SpecProblem[] = [];
  const top = sweepSchema.safeParse(raw);
  if (!top.success)
    problems.push(...describeIssues({ issues: top.error.issues, value: raw, path: [], keys: TOP_KEYS }));

  const strategy = parseStrategy(raw.strategy);
  if (strategy.kind === 'problems') problems.push(...strategy.problems);

  const modelValue = typeof raw.model === 'string' ? { name: raw.model } : raw.model;
  const model = modelSchema.safeParse(modelValue);
  if (!model.success) {
    problems.push(
      ...describeIssues({
        issues: model.error.issues,
        value: modelValue,
        path: ['model'],
        keys: Object.keys(modelSchema.shape),
      }),
    );
  }
  if (typeof raw.benchmark === 'string' && raw.benchmark !== '') {
    problems.push(...checkBenchmark(raw.benchmark, strategy.kind === 'strategy' ? strategy.strategy : undefined));
  }
  if (strategy.kind === 'strategy' && strategy.strategy.kind === 'select' && top.success && model.success)
    problems.push(...checkDraws(top.data, model.data));
  if (Array.isArray(raw.tasks)) problems.push(...repeatedTasks(raw.tasks));
  if (top.success && model.success) problems.push(...checkBudget(top.data, model.data));

  if (problems.length > 0 || !top.success || !model.success || strategy.kind === 'problems') {
    return { kind: 'problems', problems };
  }
  const { maxWait, ...rest } = top.data;
  const maxWaitMs = durationMs(maxWait) ?? 0;
  return { kind: 'spec', spec: { ...rest, maxWaitMs, strategy: strategy.strategy, model: model.data } };
}

/** Of one run with `select`, so that no index of a draw (`drawIndex`), and no seed made from it, grows beyond what endpoints take. */
const MOST_SAMPLES_OF_DRAWS = 1000;

/** Programs drawn at temperature 0 would all be one. */
function checkDraws({ samples }: Pick<SweepSpec, 'samples'>, { parameters, extraBody }: ModelSettings): SpecProblem[] {
  const problems: SpecProblem[] = [];
  for (const [path, fields] of Object.entries({ parameters, extraBody }))
    if (fields.temperature === 0)
      problems.push({
        path: `model.${path}.temperature`,
        message:
          'must be above 0 with the strategy select, which draws many programs by one request; leave it out for 0.8',
      });
  if (samples > MOST_SAMPLES_OF_DRAWS)
    problems.push({
      path: 'samples',
      message: `must be at most ${MOST_SAMPLES_OF_DRAWS} with the strategy select, not ${samples}`,
    });
  return problems;
}

/** What a resume may change, laid over what the sweep has: one field given leaves the others as they are. */
export type OperationalChange = Pick<SweepSpec, 'budget' | 'concurrency'>;

export function parseOperational(
  change: { budget: Record<string, unknown>; concurrency: Record<string, unknown> },
  spec: SweepSpec,
): { kind: 'change'; change: OperationalChange } | { kind: 'problems'; problems: SpecProblem[] } {
  const value = {
    budget: { ...spec.budget, ...change.budget },
    concurrency: { ...spec.concurrency, ...change.concurrency },
  };
  const parsed = operationalSchema.safeParse(value);
  if (!parsed.success) {
    const problems = describeIssues({ issues: parsed.error.issues, value, path: [], keys: Object.keys(value) });
    return { kind: 'problems', problems };
  }
  const problems = checkBudget({ ...spec, ...parsed.data }, spec.model);
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'change', change: parsed.data };
}

/** A budget is a promise, and so needs what bounds a request: prices for money, a longest reply for both. */
function checkBudget({ budget, prices }: Pick<SweepSpec, 'budget' | 'prices'>, model: ModelSettings): SpecProblem[] {
  const problems: SpecProblem[] = [];
  if (budget.usd !== undefined && prices === undefined) {
    const message = 'needs prices: { prompt: …, completion: … }, in US$ per million tokens';
    problems.push({ path: 'budget.usd', message });
  }
  const unbounded = [model.parameters.max_tokens, model.extraBody.max_tokens].includes(null);
  const hasBudget = budget.tokens !== undefined || budget.usd !== undefined;
  if (hasBudget && unbounded && model.contextTokens === undefined) {
    const message = 'needs a longest reply: max_tokens is null here, so give model.contextTokens';
    problems.push({ path: 'budget', message });
  }
  return problems;
}

/** An own file's path is made absolute, since workers run elsewhere; a benchmark's name stays. */
export function locateBenchmark(benchmark: string, folder: string): string {
  return looksLikePath(benchmark) ? resolve(folder, benchmark) : benchmark;
}

function looksLikePath(benchmark: string): boolean {
  return /[/\\]/.test(benchmark) || /\.jsonl(\.gz)?$/i.test(benchmark);
}

export function checkBenchmark(benchmark: string, strategy: Strategy | undefined): SpecProblem[] {
  const known: readonly string[] = BENCHMARKS;
  if (!known.includes(benchmark) && !looksLikePath(benchmark)) {
    const hint = didYouMean(benchmark, known);
    return [
      {
        path: 'benchmark',
        message: `must be one of ${known.join(', ')}, or the path of an own .jsonl file, not ${shown(benchmark)}${hint}`,
      },
    ];
  }
  if (benchmark.startsWith('mbpp') && strategy?.kind === 'quality-flow' && strategy.checker === 'python') {
    const message = `python (Relaxed) cannot be used with ${benchmark}: its visible tests are the ones it is graded by; use imagined (Standard)`;
    return [{ path: 'strategy.checker', message }];
  }
  return [];
}

function repeatedTasks(tasks: unknown[]): SpecProblem[] {
  const seen = new Set<unknown>();
  const problems: SpecProblem[] = [];
  tasks.forEach((task, index) => {
    if (seen.has(task)) problems.push({ path: `tasks[${index}]`, message: `names ${shown(task)} a second time` });
    seen.add(task);
  });
  return problems;
}

/**
 * A flag sets its own field of a mapping (`model`, its `parameters`, `concurrency`) and leaves its neighbours as the file has them. What
 * should be a mapping in the file and is none stays, to be told. `model` may be a name alone.
 */
function mergeOverrides(raw: Record<string, unknown>, overrides: SpecOverrides): Record<string, unknown> {
  const base = typeof raw.model === 'string' ? { ...raw, model: { name: raw.model } } : raw;
  return mergeMappings(base, overrides);
}

/** A reply limit given by a flag is the limit: what the file says of it by agent, or in `extraBody`, gives way. */
function withGivenReplyLimit(spec: SweepSpec, { model: given }: SpecOverrides): SweepSpec {
  const limit = isMapping(given) && isMapping(given.parameters) ? given.parameters.max_tokens : undefined;
  if (limit === undefined) return spec;
  const { max_tokens: _tokens, max_completion_tokens: _completion, ...extraBody } = spec.model.extraBody;
  return { ...spec, model: { ...spec.model, maxTokens: {}, extraBody } };
}

function mergeMappings(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(over).map(([key, value]): [string, unknown] => {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    if (!isMapping(value) || before === undefined || before === null) return [key, value];
    return [key, isMapping(before) ? mergeMappings(before, value) : before];
  });
  return { ...base, ...Object.fromEntries(fields) };
}

const TOP_KEYS = Object.keys(sweepSchema.shape);

function splitPath(path: string): PropertyKey[] {
  return path
    .split(/[.[\]]/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
