import { DEFAULT_LIMITS, type Sandbox, type SandboxLimits } from '../sandbox/sandbox.ts';
import { gradeStdio } from './grade-stdio.ts';
import type { PoolRun } from './run-pool.ts';

/** As in `run-pool.ts`. */
const STOP_AFTER = 2;

/**
 * `runPool` for programs that read standard input: the input of each test is one call, and what is printed, its beginning and end where it is
 * long, is its output.
 */
export async function runStdioPool(job: {
  sandbox: Sandbox;
  programs: string[];
  cases: { stdin: string; stdout: string }[];
  limits?: SandboxLimits | undefined;
  signal?: AbortSignal | undefined;
}): Promise<PoolRun> {
  const { sandbox, cases, limits = DEFAULT_LIMITS, signal } = job;
  const distinct = [...new Set(job.programs)];
  const run = (programs: string[]) => gradeStdio({ sandbox, programs, cases, limits, stopAfter: STOP_AFTER, signal });
  const results = await run(distinct);
  const slow = [...results.keys()].filter((at) => results[at]?.some(({ status }) => status === 'timeout') === true);
  const again = await run(slow.map((at) => distinct[at] ?? ''));
  slow.forEach((program, at) => {
    results[program] = again[at] ?? [];
  });
  const numbers = new Map<string, number>();
  const outputs = results.map((row) =>
    Int32Array.from(row, ({ actual }) => {
      if (actual === undefined) return -1;
      const number = numbers.get(actual) ?? numbers.size;
      numbers.set(actual, number);
      return number;
    }),
  );
  const places = job.programs.map((source) => distinct.indexOf(source));
  return {
    statuses: places.map((at) => results[at]?.map(({ status }) => status) ?? []),
    outputs: places.map((at) => outputs[at] ?? new Int32Array()),
    rechecked: slow.length,
  };
}
