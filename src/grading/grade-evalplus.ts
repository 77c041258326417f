import { z } from 'zod';
import type { OutputRow, Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import { bounded, TEST_CHARS, VALUE_CHARS } from './bounded.ts';
import { describeFailure, isNearLimit } from './describe-row.ts';
import { digesting, isDigest } from './digest-program.ts';
import {
  type EvalPlusTests,
  type ExpectedStore,
  expectedInFull,
  expectedOutputs,
  type TestRun,
} from './expected-outputs.ts';
import { askJudge } from './judge-job.ts';
import type { Graded, TestResult } from './verdict.ts';

interface EvalPlusJob {
  sandbox: Sandbox;
  hidden: EvalPlusTests;
  entryPoint: string;
  programs: string[];
  limits: SandboxLimits;
  /** Tests that are slow for the canonical solution have a limit of their own (EvalPlus's rule). */
  slowCalls: boolean;
  expected?: ExpectedStore | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * EvalPlus: base tests first, then plus, each stopping at a program's first failure. Equal encodings decide; every other cell goes to
 * the judge, which has EvalPlus 0.3.1's rules. `passed` counts tests before the first failure.
 */
export async function gradeEvalPlus(job: EvalPlusJob): Promise<Graded[]> {
  const expected = await expectedOutputs({ ...job, store: job.expected });
  if (expected.kind === 'unusable') {
    const firstFailure: TestResult = {
      status: 'invalid_test',
      test: job.hidden.taskId,
      exception: bounded(expected.reason, VALUE_CHARS),
    };
    return job.programs.map(() => ({
      verdict: 'invalid_test',
      tests: 0,
      passed: 0,
      base: 'invalid_test',
      firstFailure,
    }));
  }
  const tests = expected.base.calls.length + expected.plus.calls.length;
  const programs = [...new Set(job.programs)];
  const base = await runUntilFailure({ ...job, programs, run: expected.base });
  const survivors = programs.filter((_, index) => base[index]?.firstFailure === undefined);
  const plus = await runUntilFailure({ ...job, programs: survivors, run: expected.plus });

  const graded = programs.map((source, index): Graded => {
    const onBase = base[index] ?? { passed: 0, nearLimit: false };
    const onPlus = plus[survivors.indexOf(source)];
    const baseVerdict = expected.base.calls.length === 0 ? 'invalid_test' : verdictOf(onBase.firstFailure);
    const firstFailure = onBase.firstFailure ?? onPlus?.firstFailure;
    const passed = onBase.passed + (onPlus?.passed ?? 0);
    return {
      verdict: tests === 0 ? 'invalid_test' : verdictOf(firstFailure),
      tests,
      passed,
      firstFailure,
      base: baseVerdict,
      ...(onBase.nearLimit || onPlus?.nearLimit === true ? { nearLimit: true } : {}),
    };
  });
  return job.programs.map(
    (source) => graded[programs.indexOf(source)] ?? { verdict: 'invalid_test', tests: 0, passed: 0 },
  );
}

function verdictOf(failure: TestResult | undefined): Graded['verdict'] {
  if (failure === undefined) return 'pass';
  if (failure.status === 'fail') return 'wrong';
  if (failure.status === 'pass' || failure.status === 'not_run') return 'error';
  return failure.status;
}

interface Progress {
  passed: number;
  firstFailure?: TestResult | undefined;
  /** Some test up to the first failure came near its limit of time. */
  nearLimit: boolean;
}

/**
 * Outputs of one program on all its tests, all of which are held at once. A value is a digest beyond 4 KB of marshal data, which is 25 KB as text at worst, and no
 * task has more than 1,500 tests.
 */
const DIGESTED_BYTES = 32 << 20;

async function runUntilFailure(job: EvalPlusJob & { run: TestRun }): Promise<Progress[]> {
  const { sandbox, programs, run, entryPoint, limits, signal } = job;
  if (programs.length === 0 || run.calls.length === 0) return programs.map(() => ({ passed: 0, nearLimit: false }));
  const sources = programs.map((source) => digesting({ source, entryPoint }));
  const slowCalls = job.slowCalls ? run.slowCalls : undefined;
  const rows = await sandbox.runCalls({
    programs: sources,
    calls: run.calls,
    limits: { ...limits, outputBytes: DIGESTED_BYTES },
    slowCalls,
    stopAfter: 1,
    signal,
  });
  const progress: Progress[] = [];
  for (const [index, source] of programs.entries()) {
    const ofProgram = rows[index] ?? [];
    const found = await firstFailureOf({ ...job, source, rows: ofProgram });
    progress.push({ ...found, nearLimit: ofProgram.slice(0, found.passed + 1).some(isNearLimit) });
  }
  return progress;
}

/** One program's rows on one run of tests. */
interface ProgramRun extends EvalPlusJob {
  run: TestRun;
  source: string;
  rows: OutputRow[];
}

/** Cells for the judge grow from job to job: most wrong programs are wrong at once, most tolerated differences are many. */
const FIRST_CHUNK = 16;

async function firstFailureOf(job: ProgramRun): Promise<Omit<Progress, 'nearLimit'>> {
  const { run, rows } = job;
  const end = run.calls.findIndex((_, index) => rows[index]?.kind !== 'value');
  const values = end === -1 ? run.calls.length : end;
  const doubtful: number[] = [];
  for (let index = 0; index < values; index += 1) {
    if (!equalForSure(job, index)) doubtful.push(index);
  }
  for (let from = 0, size = run.digests ? 1 : FIRST_CHUNK; from < doubtful.length; from += size, size *= 8) {
    const failure = await judgeCells(job, doubtful.slice(from, from + size));
    if (failure !== undefined) return { passed: failure.index, firstFailure: failure.result };
  }
  if (end === -1) return { passed: values };
  const row = rows[end] ?? { kind: 'not_run' };
  if (row.kind === 'value') throw new Error('a value row ended the run');
  return { passed: end, firstFailure: { ...describeFailure(row), test: label(job.entryPoint, run.calls[end] ?? '') } };
}

/** NaN, arrays, iterators and opaque objects never equal themselves; find_zero is decided by its polynomial alone. */
function equalForSure(job: ProgramRun, index: number): boolean {
  const row = job.rows[index];
  const expected = job.run.expected[index];
  if (row?.kind !== 'value' || expected === undefined || row.value !== expected) return false;
  return job.entryPoint !== 'find_zero' && !/nan|\{"[oagn]":/.test(expected);
}

const compared = z.array(
  z.object({
    ok: z.boolean(),
    call: z.string().optional(),
    actual: z.string().optional(),
    expected: z.string().optional(),
  }),
);
const SECONDS = 20;

type CellFailure = { index: number; result: TestResult };

async function judgeCells(job: ProgramRun, cells: number[]): Promise<CellFailure | undefined> {
  const { sandbox, hidden, entryPoint, run, signal } = job;
  const items: { call: string; expected: string; actual: string; sticky: boolean }[] = [];
  for (const index of cells) items.push({ ...(await sidesOf(job, index)), sticky: stickyTolerance(run, index) });
  const input = { mode: 'compare', dataset: hidden.dataset, entryPoint, atol: hidden.atol, items };
  const answer = await askJudge({
    sandbox,
    script: 'evalplus',
    input,
    reply: compared,
    trust: 'benchmark',
    seconds: SECONDS,
    signal,
  });
  if (answer.kind === 'reply' && answer.reply.length === cells.length) {
    const found = answer.reply.findIndex((cell) => !cell.ok);
    const cell = answer.reply[found];
    const index = cells[found];
    if (cell === undefined || index === undefined) return undefined;
    const result: TestResult = {
      status: 'fail',
      test: bounded(cell.call ?? label(entryPoint, run.calls[index] ?? ''), TEST_CHARS),
    };
    if (cell.actual !== undefined) result.actual = bounded(cell.actual, VALUE_CHARS);
    if (cell.expected !== undefined) result.expected = bounded(cell.expected, VALUE_CHARS);
    return { index, result };
  }
  const [index] = cells;
  if (index === undefined) return undefined;
  if (cells.length === 1) {
    return {
      index,
      result: {
        status: 'fail',
        test: label(entryPoint, run.calls[index] ?? ''),
        exception: 'the output cannot be compared',
      },
    };
  }
  const middle = cells.length >> 1;
  return (await judgeCells(job, cells.slice(0, middle))) ?? (await judgeCells(job, cells.slice(middle)));
}

/** Both values of a test, in full. A side that cannot be had is empty, which the judge takes for a difference. */
async function sidesOf(job: ProgramRun, index: number): Promise<{ call: string; expected: string; actual: string }> {
  const { sandbox, run, rows, source, entryPoint, limits, signal } = job;
  const call = run.calls[index] ?? '';
  const expected = run.expected[index] ?? '';
  const row = rows[index];
  const actual = row?.kind === 'value' ? row.value : '';
  if (!isDigest(expected) && !isDigest(actual)) return { call, expected, actual };
  const seconds = job.slowCalls ? run.slowCalls.find(([slow]) => slow === index)?.[1] : undefined;
  const slowCalls = seconds === undefined ? undefined : [[0, seconds] as const];
  const programs = [{ source, entryPoint }];
  const [again] = await sandbox.runCalls({ programs, calls: [call], limits, slowCalls, signal });
  const full = again?.[0];
  return {
    call,
    expected: (await expectedInFull({ ...job, call })) ?? '',
    actual: full?.kind === 'value' ? full.value : '',
  };
}

/**
 * EvalPlus sets its tolerance to 1e-6 at the first float it meets when the task has none, and leaves it there for the tests that
 * follow in the same run; so later integers are compared with a tolerance too. Kept, because published numbers have it.
 */
function stickyTolerance(run: TestRun, index: number): boolean {
  return run.firstFloats !== -1 && run.firstFloats <= index;
}

function label(entryPoint: string, call: string): string {
  return bounded(`${entryPoint}(*${call})`, TEST_CHARS);
}
