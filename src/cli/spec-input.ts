import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { locateBenchmark, parseSpec, parseSpecValue, type SpecOverrides } from '../spec/parse-spec.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { SpecProblem } from '../spec/spec-problem.ts';
import type { Context } from './context.ts';
import { UserError } from './user-error.ts';

/** Flags that describe a sweep, as commander hands them over: texts, unread. */
export interface SpecFlags {
  name?: string;
  benchmark?: string;
  task?: string[];
  limit?: string;
  shuffle?: string;
  samples?: string;
  seed?: string;
  strategy?: string;
  model?: string;
  endpoint?: string;
  api?: string;
  maxTokens?: string;
  problems?: string;
  requests?: string;
  /** Another name of `problems`. */
  concurrency?: string;
  budgetTokens?: string;
  budgetUsd?: string;
}

/** A spec file, flags, or both: flags win. Throws a `UserError` with everything that is wrong. */
export async function readSpec({
  context,
  file,
  flags,
}: {
  context: Context;
  file: string | undefined;
  flags: SpecFlags;
}): Promise<SweepSpec> {
  if (file !== undefined) {
    const text = await readSpecFile(resolve(context.cwd, file));
    const overrides = overridesOf(flags, context.cwd);
    const parsed = parseSpec({ text, file: resolve(context.cwd, file), overrides });
    if (parsed.kind === 'problems') throw specError(file, parsed.problems);
    return parsed.spec;
  }
  if (flags.benchmark === undefined) {
    throw new UserError({
      message: 'There is nothing to run: neither a spec file nor --benchmark was given',
      remedy: 'Name a spec file, or try `qualityflow sweep run --benchmark mini --endpoint scripted`',
      exitCode: 2,
    });
  }
  const model = flags.model ?? (flags.endpoint === 'scripted' ? 'scripted' : undefined);
  if (model === undefined) {
    throw new UserError({
      message: 'No model was named',
      remedy: 'Add `--model NAME`, or `--endpoint scripted` for the offline model',
      exitCode: 2,
    });
  }
  const overrides = overridesOf({ ...flags, model }, context.cwd);
  const parsed = parseSpecValue({ name: generatedName(flags), strategy: 'standard', ...overrides });
  if (parsed.kind === 'problems') throw specError(undefined, parsed.problems);
  return parsed.spec;
}

async function readSpecFile(path: string): Promise<string> {
  if (!existsSync(path)) {
    throw new UserError({
      message: `There is no spec file ${path}`,
      remedy: 'Check the path, or describe the sweep by flags (see --help)',
      exitCode: 2,
    });
  }
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UserError({
      message: `${path} cannot be read: ${reason}`,
      remedy: 'Name a readable YAML file',
      exitCode: 2,
      cause,
    });
  }
}

function overridesOf(flags: SpecFlags, cwd: string): SpecOverrides {
  const model = present({
    name: flags.model,
    endpoint: flags.endpoint,
    api: flags.api,
    parameters: flags.maxTokens === undefined ? undefined : { max_tokens: numeric(flags.maxTokens) },
  });
  const concurrency = present({
    problems: numeric(flags.problems ?? flags.concurrency),
    requests: numeric(flags.requests),
  });
  const budget = present({ tokens: numeric(flags.budgetTokens), usd: numeric(flags.budgetUsd) });
  return present({
    name: flags.name,
    benchmark: flags.benchmark === undefined ? undefined : locateBenchmark(flags.benchmark, cwd),
    tasks: flags.task,
    limit: numeric(flags.limit),
    shuffle: numeric(flags.shuffle),
    samples: numeric(flags.samples),
    seed: numeric(flags.seed),
    strategy: flags.strategy,
    model: Object.keys(model).length === 0 ? undefined : model,
    concurrency: Object.keys(concurrency).length === 0 ? undefined : concurrency,
    budget: Object.keys(budget).length === 0 ? undefined : budget,
  });
}

/** What is no number stays text, for the schema to say what is allowed. */
export function numeric(text: string | undefined): number | string | undefined {
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Benchmark, strategy and time, in the alphabet of names. */
function generatedName({ benchmark = '', strategy = 'standard' }: SpecFlags): string {
  return nameFrom(`${basename(benchmark).replace(/\.jsonl(\.gz)?$/i, '')}-${strategy}`);
}

/** Names of the sweeps that `solve` makes. */
export const SOLVE_PREFIX = 'solve-';

/** A free-form label made into a name that is new every second. */
export function nameFrom(label: string): string {
  const time = new Date()
    .toISOString()
    .replaceAll(/[-:]|\..*$/g, '')
    .replace('T', '-');
  const safe = label
    .toLowerCase()
    .replaceAll('+', '-plus')
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  return `${safe.slice(0, 40) || 'sweep'}-${time}`;
}

export function specError(file: string | undefined, problems: readonly SpecProblem[]): UserError {
  const where = file ?? 'The sweep';
  const told = problems.map(
    ({ path, line, message }) =>
      `${line === undefined ? '' : `line ${line}: `}${path === '' ? 'the file' : path} ${message}`,
  );
  const [only] = told;
  return new UserError({
    message: told.length === 1 && only !== undefined ? `${where}: ${only}` : `${where} has ${told.length} problems`,
    details: told.length === 1 ? [] : told,
    remedy: 'Correct that and run the command again; nothing was started',
    exitCode: 2,
  });
}

export function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
