import { z } from 'zod';
import type { Store } from '../store/store.ts';
import type { ProgramSource, RunKey, Test, TestSource } from './contract.ts';
import { requireSteps } from './require-steps.ts';

const test = z.union([
  z.object({ kind: z.literal('assert'), source: z.string() }),
  z.object({ kind: z.literal('stdio'), stdin: z.string(), stdout: z.string() }),
]);
const programResult = z.object({ kind: z.literal('program'), code: z.string() });
const testsResult = z.object({ kind: z.literal('tests'), tests: z.array(test) });

type Steps = Pick<Store, 'steps' | 'missingSteps'>;

/** Programs that a history names and the store holds, in the order of their names. Fails as `StoreIsOlder` when one is not there. */
export async function programsOf(store: Steps, run: RunKey, source: ProgramSource): Promise<string[]> {
  if ('programs' in source) return source.programs;
  return (await resultsOf(store, run, source.steps)).map((result) => programResult.parse(JSON.parse(result)).code);
}

/** The same for tests, equal ones as often as they came. */
export async function testsOf(store: Steps, run: RunKey, source: TestSource): Promise<Test[]> {
  if ('tests' in source) return source.tests;
  const results = await resultsOf(store, run, source.steps);
  return results.flatMap((result) => testsResult.parse(JSON.parse(result)).tests);
}

/** Results of this attempt's steps, as JSON text. */
export async function resultsOf(store: Steps, run: RunKey, names: readonly string[]): Promise<string[]> {
  await requireSteps(store, run, [...names]);
  const rows = (await store.steps(run)).filter((row) => row.run.attempt === run.attempt);
  const results = new Map(rows.map((row) => [row.step, row.result]));
  return names.map((name) => {
    const result = results.get(name);
    if (result === undefined) throw new Error(`the step ${name} was there a moment ago`);
    return result;
  });
}
