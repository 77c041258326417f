import { z } from 'zod';
import type { EncodedValue, JudgeJob, OutputRow, Sandbox } from '../sandbox/sandbox.ts';
import { bounded, TEST_CHARS, VALUE_CHARS } from './bounded.ts';
import { MAX_ROUNDS } from './collect-calls.ts';
import { askJudge } from './judge-job.ts';
import type { TestResult } from './verdict.ts';

const outcome = z.object({
  status: z.enum([
    'pass',
    'fail',
    'error',
    'timeout',
    'memory_limit',
    'output_limit',
    'not_run',
    'invalid_test',
    'need',
    'undecided',
  ]),
  label: z.string().optional(),
  actual: z.string().nullish(),
  expected: z.string().nullish(),
  exception: z.string().optional(),
});
const reply = z.object({ results: z.array(z.array(outcome)), needs: z.array(z.array(z.string())) });

/** Undefined: the test made calls that nobody has run yet, or values alone cannot decide it. */
export type Replayed = TestResult | undefined;

interface ReplayOutcome {
  /** By program, then by the tests that were wanted of it. */
  results: Replayed[][];
  /** Calls to run next, by program. */
  needs: EncodedValue[][];
}

interface ReplayedProgram {
  /** By call; undefined where it never ran a call. */
  rows: (OutputRow | undefined)[];
  /** Which tests it meets, by number. */
  tests: number[];
}

interface ReplayJob {
  sandbox: Sandbox;
  entryPoint: string;
  alias: string | null;
  setup: string;
  tests: { source: string; label: string }[];
  calls: EncodedValue[];
  programs: ReplayedProgram[];
  trust: JudgeJob['trust'];
  signal?: AbortSignal | undefined;
}

/** Recorded outputs sent to one judge job; more is split by programs. */
const INPUT_BYTES = 32 << 20;
const SECONDS = 20;

/** Runs tests, once a program, with the program's recorded outputs in its place. What brings the judge down is isolated by halving. */
export async function replayTests(job: ReplayJob): Promise<ReplayOutcome> {
  const { programs, tests } = job;
  if (programs.length === 0 || tests.length === 0)
    return { results: programs.map(() => []), needs: programs.map(() => []) };
  if (programs.length > 1 && sizeOf(programs) > INPUT_BYTES) return splitPrograms(job);

  const input = {
    mode: 'replay',
    rounds: MAX_ROUNDS,
    entryPoint: job.entryPoint,
    alias: job.alias,
    setup: job.setup,
    tests: tests.map((test) => test.source),
    calls: job.calls,
    programs: programs.map(({ rows }) => job.calls.map((_, call) => rows[call] ?? null)),
    wanted: programs.map((program) => program.tests),
  };
  const answer = await askJudge({
    sandbox: job.sandbox,
    script: 'replay',
    input,
    reply,
    trust: job.trust,
    seconds: SECONDS,
    signal: job.signal,
  });
  if (answer.kind === 'reply' && fits(answer.reply, job)) {
    const { results, needs } = answer.reply;
    return {
      needs,
      results: results.map((row, program) =>
        row.map((found, place) => toResult(found, tests[programs[program]?.tests[place] ?? -1]?.label ?? '')),
      ),
    };
  }
  if (programs.length > 1) return splitPrograms(job);
  const { rows, tests: wanted } = programs[0] ?? { rows: [], tests: [] };
  if (wanted.length > 1) {
    const middle = wanted.length >> 1;
    const first = await replayTests({ ...job, programs: [{ rows, tests: wanted.slice(0, middle) }] });
    const second = await replayTests({ ...job, programs: [{ rows, tests: wanted.slice(middle) }] });
    return {
      results: [[...(first.results[0] ?? []), ...(second.results[0] ?? [])]],
      needs: [[...new Set([...(first.needs[0] ?? []), ...(second.needs[0] ?? [])])]],
    };
  }
  const reason = answer.kind === 'failed' ? answer.reason : 'crash';
  const status = reason === 'timeout' || reason === 'memory_limit' ? reason : 'error';
  const result: TestResult = {
    status,
    test: bounded(tests[wanted[0] ?? -1]?.label ?? '', TEST_CHARS),
    exception: 'the output cannot be compared',
  };
  return { results: [[result]], needs: [[]] };
}

async function splitPrograms(job: ReplayJob): Promise<ReplayOutcome> {
  const middle = job.programs.length >> 1;
  const first = await replayTests({ ...job, programs: job.programs.slice(0, middle) });
  const second = await replayTests({ ...job, programs: job.programs.slice(middle) });
  return { results: [...first.results, ...second.results], needs: [...first.needs, ...second.needs] };
}

function fits(answer: z.infer<typeof reply>, job: ReplayJob): boolean {
  const { results, needs } = answer;
  return (
    results.length === job.programs.length &&
    needs.length === job.programs.length &&
    results.every((row, program) => row.length === job.programs[program]?.tests.length)
  );
}

function sizeOf(programs: ReplayedProgram[]): number {
  let bytes = 0;
  for (const { rows } of programs) for (const row of rows) bytes += row?.kind === 'value' ? row.value.length : 100;
  return bytes;
}

function toResult(found: z.infer<typeof outcome>, label: string): Replayed {
  if (found.status === 'need' || found.status === 'undecided') return undefined;
  const result: TestResult = { status: found.status, test: bounded(found.label ?? label, TEST_CHARS) };
  if (typeof found.actual === 'string') result.actual = bounded(found.actual, VALUE_CHARS);
  if (typeof found.expected === 'string') result.expected = bounded(found.expected, VALUE_CHARS);
  if (found.exception !== undefined) result.exception = bounded(found.exception, VALUE_CHARS + 100);
  return result;
}
