import type { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { modelSchema } from './schema.ts';

/** One thing that is wrong with a spec: where, and what is allowed there. */
export interface SpecProblem {
  /** `strategy.tests.queries`; empty for the document itself. */
  path: string;
  /** 1-based line of the spec file, when it came from one. */
  line?: number | undefined;
  /** Continues the path as a sentence: `must be a whole number from 1 to 6, not 9`. */
  message: string;
}

/** Turns zod's issues into sentences: an unknown key with its nearest match, a wrong value with what is allowed and what stood there. */
export function describeIssues(input: {
  issues: readonly z.core.$ZodIssue[];
  value: unknown;
  path: PropertyKey[];
  /** Keys allowed at the top of `value`. */
  keys: readonly string[];
  /** Keys allowed in a mapping of this name, where they are not the usual ones. */
  nested?: Record<string, readonly string[]>;
}): SpecProblem[] {
  const nested = { ...NESTED_KEYS, ...input.nested };
  const problems: SpecProblem[] = [];
  for (const issue of input.issues) {
    const path = [...input.path, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      const allowed = issue.path.length === 0 ? input.keys : (own(nested, String(issue.path.at(-1))) ?? []);
      for (const key of issue.keys)
        problems.push({ path: joinPath([...path, key]), message: unknownKey(key, allowed) });
      continue;
    }
    const found = valueAt(input.value, issue.path);
    const message =
      found === undefined && issue.code !== 'custom' ? `is missing: it ${issue.message}` : withFound(issue, found);
    problems.push({ path: joinPath(path), message });
  }
  return problems.filter(
    (problem, index) =>
      problems.findIndex((other) => other.path === problem.path && other.message === problem.message) === index,
  );
}

function unknownKey(key: string, allowed: readonly string[]): string {
  const hint = didYouMean(key, allowed);
  return `is not an option here${hint === '' ? `; allowed: ${allowed.join(', ')}` : hint}`;
}

/** A key is anybody's text: `constructor` is no entry of a table. */
function own<T>(table: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

const NESTED_KEYS: Record<string, readonly string[]> = {
  tests: ['queries', 'perQuery', 'shared'],
  concurrency: ['problems', 'requests'],
  budget: ['tokens', 'usd'],
  prices: ['prompt', 'completion'],
  maxTokens: Object.keys(modelSchema.shape.maxTokens.unwrap().shape),
};

function withFound(issue: z.core.$ZodIssue, found: unknown): string {
  if (issue.code === 'custom') return issue.message;
  const hint =
    issue.code === 'invalid_value' && typeof found === 'string' ? didYouMean(found, issue.values.map(String)) : '';
  return `${issue.message}, not ${shown(found)}${hint}`;
}

/** A value as it stands in a message: JSON, at most 60 characters; control characters stay escaped. */
export function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 60 ? `${json.slice(0, 57)}…` : json;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

function joinPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}${text === '' ? '' : '.'}${String(key)}`),
    '',
  );
}
