import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { HiddenTests } from '../problems/hidden-tests.ts';
import {
  type EncodedValue,
  type OutputRow,
  type Sandbox,
  SandboxError,
  type SandboxLimits,
} from '../sandbox/sandbox.ts';
import { isDigest, isDigestOfFloats, TIMES_CALL, timed } from './digest-program.ts';
import { graderSha256 } from './grader-sha256.ts';
import { askJudge } from './judge-job.ts';
import { KeptForSandbox } from './kept-for-sandbox.ts';
import { EVALPLUS_LIMITS, EVALPLUS_TIME_FACTOR } from './limits.ts';

export type EvalPlusTests = Extract<HiddenTests, { kind: 'evalplus' }>;

/** Inputs of one EvalPlus task as calls, with what the canonical solution returned for each. */
const testRun = z.object({
  calls: z.array(z.string()),
  expected: z.array(z.string()),
  /** Index of the first expected value that is a float or a non-empty list or tuple of floats; -1 without one. */
  firstFloats: z.int().min(-1),
  /** Some expected value is a digest (see `digesting`). */
  digests: z.boolean(),
  /** Calls that take the canonical solution long, and the CPU seconds that EvalPlus's rule gives a program for them. */
  slowCalls: z.array(z.tuple([z.int().nonnegative(), z.number().positive()])),
});
export type TestRun = z.infer<typeof testRun>;

const outputs = z.object({
  kind: z.literal('outputs'),
  base: testRun,
  plus: testRun,
  /** CPU seconds of the canonical solution over all tests. */
  cpuSeconds: z.number().nonnegative(),
});
type Outputs = z.infer<typeof outputs>;
type Expected = Outputs | { kind: 'unusable'; reason: string };

/** Keeps texts by key beyond the life of a process. What it gives back is checked; what it cannot keep is computed anew. */
export interface ExpectedStore {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}

const converted = z.object({ base: z.array(z.string()), plus: z.array(z.string()) });
const SECONDS = 60;

/** One output of the canonical solution in full, where only its digest is kept. Undefined when it cannot be had. */
export async function expectedInFull(job: {
  sandbox: Sandbox;
  hidden: EvalPlusTests;
  entryPoint: string;
  call: EncodedValue;
  signal?: AbortSignal | undefined;
}): Promise<EncodedValue | undefined> {
  const { sandbox, hidden, entryPoint, call, signal } = job;
  const programs = [{ source: hidden.canonical, entryPoint }];
  const [rows] = await sandbox.runCalls({ programs, calls: [call], limits: CANONICAL_LIMITS, signal });
  const row = rows?.[0];
  return row?.kind === 'value' ? row.value : undefined;
}

/** The canonical solution has ten minutes of a processor: EvalPlus does not bound it at all. */
const CANONICAL_LIMITS: SandboxLimits = { ...EVALPLUS_LIMITS, cpuSeconds: 60, totalCpuSeconds: 600 };

/** Some tasks return megabytes for each of a thousand tests; what is kept stays below this. */
const CACHE_BYTES = 128 << 20;

const kept = new KeptForSandbox<Expected>({ bytes: CACHE_BYTES });

/**
 * Runs the canonical solution on the task's inputs, in the sandbox like any other program. Kept in memory for each sandbox, and in the store by
 * all that the outputs depend on: the task's own text, Python, numpy, the runner and the grader. No candidate is involved: what is
 * neither a value nor the task's own fault (timeout, memory, crash) is the machine's, and a `SandboxError`.
 */
export async function expectedOutputs(job: ExpectedJob): Promise<Expected> {
  const known = await lookUp(job);
  if (known !== undefined) return known;
  const expected = await computeExpected(job);
  if (expected.kind === 'outputs') {
    const { sandbox, store } = job;
    if (store !== undefined) {
      await store.write(await lastingKey(job), JSON.stringify(expected));
      await store.write(await secondsKey(job), String(expected.cpuSeconds));
    }
    kept.put(sandbox, taskKey(job), expected, sizeOf(expected));
  }
  return expected;
}

/** What the canonical solution took for all tests, where that is known already: a guess of what a task costs. */
export async function knownSeconds(job: ExpectedJob): Promise<number> {
  const known = kept.get(job.sandbox, taskKey(job));
  if (known?.kind === 'outputs') return known.cpuSeconds;
  // Kept apart from the outputs, which are megabytes: nobody grades before all tasks are put in order.
  const seconds = Number((await job.store?.read(await secondsKey(job))) ?? 0);
  return Number.isFinite(seconds) ? seconds : 0;
}

interface ExpectedJob {
  sandbox: Sandbox;
  hidden: EvalPlusTests;
  entryPoint: string;
  store?: ExpectedStore | undefined;
  signal?: AbortSignal | undefined;
}

async function lookUp(job: ExpectedJob): Promise<Expected | undefined> {
  const { sandbox, store } = job;
  const known = kept.get(sandbox, taskKey(job));
  if (known !== undefined || store === undefined) return known;
  const stored = readStored(await store.read(await lastingKey(job)));
  if (stored !== undefined) kept.put(sandbox, taskKey(job), stored, sizeOf(stored));
  return stored;
}

/** Parts of a task as they were when its key was made: a key takes a pass over all its inputs. */
const taskKeys = new Map<string, { parts: string[]; key: string }>();
const MAX_TASK_KEYS = 2000;

function taskKey({ hidden, entryPoint }: ExpectedJob): string {
  const { dataset, taskId, canonical, baseInputs, plusInputs } = hidden;
  const parts = [dataset, taskId, entryPoint, canonical, baseInputs, plusInputs];
  const known = taskKeys.get(taskId);
  if (known?.parts.every((part, at) => part === parts[at]) === true) return known.key;
  const key = sha256(parts);
  if (taskKeys.size >= MAX_TASK_KEYS) taskKeys.clear();
  taskKeys.set(taskId, { parts, key });
  return key;
}

async function secondsKey(job: ExpectedJob): Promise<string> {
  return sha256(['seconds', await lastingKey(job)]);
}

async function lastingKey(job: ExpectedJob): Promise<string> {
  const { python, numpy, runnerSha256 } = await job.sandbox.fingerprint();
  return sha256([taskKey(job), python, numpy, runnerSha256, graderSha256()]);
}

function sha256(parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function readStored(text: string | undefined): Outputs | undefined {
  if (text === undefined) return undefined;
  try {
    const found = outputs.parse(JSON.parse(text));
    const whole = [found.base, found.plus].every(({ calls, expected }) => calls.length === expected.length);
    return whole ? found : undefined;
  } catch {
    return undefined;
  }
}

function sizeOf({ base, plus }: Outputs): number {
  const texts = [...base.calls, ...base.expected, ...plus.calls, ...plus.expected];
  return texts.reduce((sum, text) => sum + text.length, 0);
}

async function computeExpected(job: ExpectedJob): Promise<Expected> {
  const { sandbox, hidden, entryPoint, signal } = job;
  const { dataset, taskId, baseInputs, plusInputs } = hidden;
  const input = { mode: 'convert', dataset, taskId, baseInputs, plusInputs };
  const inputs = await askJudge({
    sandbox,
    script: 'evalplus',
    input,
    reply: converted,
    trust: 'benchmark',
    seconds: SECONDS,
    signal,
  });
  if (inputs.kind === 'failed') {
    const reason = `the inputs cannot be read: ${inputs.reason} ${inputs.detail}`;
    if (inputs.reason !== 'exception') throw new SandboxError(`${taskId}: ${reason}`);
    return { kind: 'unusable', reason };
  }
  const { base, plus } = inputs.reply;
  const program = timed({ source: hidden.canonical, entryPoint });
  const [rows = []] = await sandbox.runCalls({
    programs: [program],
    calls: [...base, ...plus, TIMES_CALL],
    limits: CANONICAL_LIMITS,
    stopAfter: 1,
    signal,
  });
  const seconds = readTimes(rows.pop());
  const expected: EncodedValue[] = [];
  for (const row of rows) {
    if (row.kind === 'value') {
      expected.push(row.value);
      continue;
    }
    const reason = `the canonical solution cannot be run: ${describe(row)}`;
    if (row.kind !== 'exception' && row.kind !== 'output_limit') throw new SandboxError(`${taskId}: ${reason}`);
    return { kind: 'unusable', reason };
  }
  if (expected.length !== base.length + plus.length)
    return { kind: 'unusable', reason: 'the canonical solution left tests without output' };
  return {
    kind: 'outputs',
    base: runOf(base, expected.slice(0, base.length), seconds),
    plus: runOf(plus, expected.slice(base.length), seconds.slice(base.length)),
    cpuSeconds: seconds.reduce((sum, spent) => sum + spent, 0),
  };
}

function describe(row: Exclude<OutputRow, { kind: 'value' }>): string {
  return row.kind === 'exception' ? `${row.type}: ${row.message}` : row.kind;
}

const times = z.array(z.number().nonnegative());

/** CPU seconds by call; none when an earlier row says what went wrong. */
function readTimes(row: OutputRow | undefined): number[] {
  if (row?.kind !== 'value') return [];
  const microseconds = times.safeParse(JSON.parse(row.value));
  return microseconds.success ? microseconds.data.map((spent) => spent / 1e6) : [];
}

function runOf(calls: EncodedValue[], expected: EncodedValue[], seconds: readonly number[]): TestRun {
  return {
    calls,
    expected,
    firstFloats: expected.findIndex(isFloats),
    digests: expected.some(isDigest),
    slowCalls: calls.flatMap((_, index): [number, number][] => {
      const allowed = EVALPLUS_TIME_FACTOR * (seconds[index] ?? 0);
      return allowed > EVALPLUS_LIMITS.cpuSeconds ? [[index, allowed]] : [];
    }),
  };
}

/** Reads the encoding's outline only: `{"f":…}`, or a list or tuple of nothing else. */
function isFloats(value: EncodedValue): boolean {
  if (isDigest(value)) return isDigestOfFloats(value);
  const list = value.startsWith('{"t":') ? value.slice(5, -1) : value;
  return /^\{"f":"[^"]*"\}$/.test(value) || /^\[(?:\{"f":"[^"]*"\},?)+\]$/.test(list);
}
