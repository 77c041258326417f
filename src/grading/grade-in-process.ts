import { z } from 'zod';
import type { OutputRow, Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import { bounded, TEST_CHARS, VALUE_CHARS } from './bounded.ts';
import { describeException, describeFailure, isNearLimit, printedIn } from './describe-row.ts';
import type { TestResult } from './verdict.ts';

const ENTRY = '__qf_run_test';

const reply = z.union([z.literal('pass'), z.tuple([z.literal('fail'), z.string()])]);

/**
 * Tests that need more of the program than the values it returns (its classes, an argument changed in place, functions as
 * arguments) run beside it, in its own process. Such a verdict can be forged by the program and says so: `forgeable`. A program without
 * the class or function that a test names is in error, as it would be with that test below it in a file.
 */
export async function gradeInProcess(job: {
  sandbox: Sandbox;
  programs: string[];
  entryPoint: string;
  /** Another name under which the tests call the entry point (HumanEval's `candidate`). */
  alias: string | null;
  /** Imports that tests may lean on. */
  prelude: string;
  setup: string;
  tests: { source: string; label: string }[];
  limits: SandboxLimits;
  prints?: boolean | undefined;
  /** Ends a program after this many timeouts and crashes; its later tests are `not_run`. */
  stopAfter?: number | undefined;
  signal?: AbortSignal | undefined;
}): Promise<TestResult[][]> {
  if (job.tests.length === 0 || job.programs.length === 0) return job.programs.map(() => []);
  const harness = testHarness(job);
  const rows = await job.sandbox.runCalls({
    programs: job.programs.map((source) => ({ source: `${source}\n${harness}`, entryPoint: ENTRY })),
    calls: job.tests.map((_, index) => `[[${index}],{"d":[]}]`),
    limits: job.limits,
    prints: job.prints,
    stopAfter: job.stopAfter,
    signal: job.signal,
  });
  return job.programs.map((source, program) => {
    const lines = source.split('\n').length;
    return job.tests.map((test, index): TestResult => {
      const row = rows[program]?.[index] ?? { kind: 'not_run' };
      return {
        ...readRow(row, lines),
        test: bounded(test.label, TEST_CHARS),
        forgeable: true,
        ...(isNearLimit(row) ? { nearLimit: true } : {}),
        ...printedIn([row]),
      };
    });
  });
}

function readRow(row: OutputRow, programLines: number): Pick<TestResult, 'status' | 'exception'> {
  if (row.kind === 'exception') {
    const line = row.line > programLines ? 0 : row.line;
    return { status: 'error', exception: describeException({ ...row, line }) };
  }
  if (row.kind !== 'value') return describeFailure(row);
  let said: unknown;
  try {
    said = JSON.parse(row.value);
  } catch {
    said = undefined;
  }
  const checked = reply.safeParse(said);
  if (!checked.success) return { status: 'error', exception: 'the program replaced the test' };
  if (checked.data === 'pass') return { status: 'pass' };
  return { status: 'fail', exception: bounded(checked.data[1], VALUE_CHARS) };
}

/** Python appended to the program, so that the program's own line numbers stay. A JSON string is a valid Python literal. */
function testHarness(job: {
  entryPoint: string;
  alias: string | null;
  prelude: string;
  setup: string;
  tests: { source: string }[];
}): string {
  const names = [job.entryPoint, ...(job.alias === null ? [] : [job.alias])];
  return `
def ${ENTRY}(index):
    import random, sys
    space = {}
    exec(${JSON.stringify(job.prelude)}, space)
    space.update(globals())
    entry = space[${JSON.stringify(job.entryPoint)}]
    random.seed(0)
    try:
        exec(compile(${JSON.stringify(job.setup)}, "<test>", "exec"), space)
        for name in ${JSON.stringify(names)}:
            space[name] = entry
        exec(compile(${JSON.stringify(job.tests.map((test) => test.source))}[index], "<test>", "exec"), space)
    except AssertionError as error:
        return ["fail", str(error)[:${VALUE_CHARS}]]
    return "pass"
`;
}
