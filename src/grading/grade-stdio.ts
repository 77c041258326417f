import type { Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import { bounded, TEST_CHARS, VALUE_CHARS } from './bounded.ts';
import { describeFailure } from './describe-row.ts';
import type { TestResult } from './verdict.ts';

/** Trailing whitespace of each line and at the end does not count; everything else does. */
function normaliseOutput(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
}

/** Programs that read standard input and print: rows by program, then by case. */
export async function gradeStdio(job: {
  sandbox: Sandbox;
  programs: string[];
  cases: { stdin: string; stdout: string }[];
  limits: SandboxLimits;
  stopAfter?: number | undefined;
  signal?: AbortSignal | undefined;
}): Promise<TestResult[][]> {
  if (job.programs.length === 0 || job.cases.length === 0) return job.programs.map(() => []);
  const rows = await job.sandbox.runStdio({
    programs: job.programs.map((source) => ({ source })),
    inputs: job.cases.map((test) => test.stdin),
    limits: job.limits,
    stopAfter: job.stopAfter,
    signal: job.signal,
  });
  return rows.map((ofProgram) =>
    job.cases.map((test, index): TestResult => {
      const row = ofProgram[index] ?? { kind: 'not_run' };
      const label = bounded(`stdin: ${JSON.stringify(test.stdin)}`, TEST_CHARS);
      const expected = bounded(JSON.stringify(normaliseOutput(test.stdout)), VALUE_CHARS);
      if (row.kind !== 'value') return { ...describeFailure(row), test: label, expected };
      const actual = normaliseOutput(row.stdout);
      const status = actual === normaliseOutput(test.stdout) ? 'pass' : 'fail';
      const near = row.nearLimit === true ? { nearLimit: true as const } : {};
      return { status, test: label, actual: bounded(JSON.stringify(actual), VALUE_CHARS), expected, ...near };
    }),
  );
}
