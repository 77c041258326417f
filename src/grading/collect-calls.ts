import { z } from 'zod';
import { type EncodedValue, type JudgeJob, type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { askJudge } from './judge-job.ts';

/** `Collected`, as the judge answers it and as it is kept. */
export const collected = z.object({
  prelude: z.string(),
  setup: z.string(),
  alias: z.string().nullable(),
  tests: z.array(
    z.object({
      source: z.string(),
      label: z.string(),
      calls: z.array(z.string()),
      expected: z.string().optional(),
      invalid: z.string().optional(),
      inherent: z.string().optional(),
    }),
  ),
});

export interface CollectedTest {
  source: string;
  label: string;
  /** The distinct calls that the test makes before it needs a result. */
  calls: EncodedValue[];
  /** Its one call decides it: the test passes where that returns exactly this, fails where it returns what does not equal it, and else ends as it does. */
  expected?: EncodedValue | undefined;
  /** Why the test cannot be used at all. */
  invalid?: string | undefined;
  /** Why values alone cannot decide it. Depends on the test only: a program cannot choose to be graded in its own process. */
  inherent?: string | undefined;
}

export interface Collected {
  prelude: string;
  setup: string;
  alias: string | null;
  tests: CollectedTest[];
}

/** Either assert-style tests, each a piece of Python that calls the entry point, or a `check(candidate)` function. */
export type TestSource = { tests: string[] } | { check: string };

/** CPU seconds of a job. The script stops each test after 2 s; what it cannot interrupt ends with the job. */
const MAX_SECONDS = 20;
const secondsFor = (tests: number) => Math.min(MAX_SECONDS, 3 + 2 * tests);
/** A test that calls with the result of a call needs one round a level. What needs more cannot be replayed. */
export const MAX_ROUNDS = 10;

/**
 * Runs the tests without any program and learns which calls they make. A test written by a model that brings the judge down is invalid,
 * its neighbours are not. A benchmark's tests are trusted: when they bring the judge down it is the machine, and a `SandboxError`.
 */
export async function collectCalls(job: {
  sandbox: Sandbox;
  entryPoint: string;
  setup: string;
  source: TestSource;
  trust: JudgeJob['trust'];
  signal?: AbortSignal | undefined;
}): Promise<Collected> {
  const { sandbox, entryPoint, setup, source, trust, signal } = job;
  const wanted = 'tests' in source ? source.tests : undefined;
  const seconds = wanted === undefined ? MAX_SECONDS : secondsFor(wanted.length);
  const input = { mode: 'collect', rounds: MAX_ROUNDS, entryPoint, setup, ...source };
  const answer = await askJudge({ sandbox, script: 'replay', input, reply: collected, trust, seconds, signal });
  if (answer.kind === 'reply' && (wanted === undefined || answer.reply.tests.length === wanted.length))
    return answer.reply;
  const invalid =
    answer.kind === 'failed'
      ? `the test itself fails: ${answer.reason} ${answer.detail}`.trim()
      : 'the test broke the judge';
  if (wanted === undefined || wanted.length <= 1) {
    if (trust === 'benchmark' && answer.kind === 'failed' && answer.reason !== 'exception')
      throw new SandboxError(
        `the judge of the tests of ${entryPoint} failed: ${answer.reason} ${answer.detail}`.trim(),
      );
    const text = 'check' in source ? source.check : (source.tests[0] ?? '');
    const tests =
      wanted?.length === 0
        ? []
        : [{ source: text, label: 'check' in source ? 'check(candidate)' : text, calls: [], invalid }];
    return { prelude: '', setup, alias: null, tests };
  }
  const middle = wanted.length >> 1;
  const first = await collectCalls({ ...job, source: { tests: wanted.slice(0, middle) } });
  const second = await collectCalls({ ...job, source: { tests: wanted.slice(middle) } });
  return { ...first, prelude: first.prelude || second.prelude, tests: [...first.tests, ...second.tests] };
}
