import { z } from 'zod';
import type { HiddenTests } from '../problems/hidden-tests.ts';
import type { EncodedValue, OutputRow, Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import { digesting, isDigest, isDigestOfFloats } from './digest-program.ts';
import { askJudge } from './judge-job.ts';

export type EvalPlusTests = Extract<HiddenTests, { kind: 'evalplus' }>;

/** Inputs of one EvalPlus task as calls, with what the canonical solution returned for each. */
export interface TestRun {
  calls: EncodedValue[];
  expected: EncodedValue[];
  /** Index of the first expected value that is a float or a non-empty list or tuple of floats; -1 without one. */
  firstFloats: number;
  /** Some expected value is a digest (see `digesting`), so programs must run in the same way. */
  digests: boolean;
}

type Expected = { kind: 'outputs'; base: TestRun; plus: TestRun } | { kind: 'unusable'; reason: string };

const converted = z.object({ base: z.array(z.string()), plus: z.array(z.string()) });
const SECONDS = 60;

/** One output of the canonical solution in full, where only its digest is kept. Undefined when it cannot be had. */
export async function expectedInFull(job: {
  sandbox: Sandbox;
  hidden: EvalPlusTests;
  entryPoint: string;
  call: EncodedValue;
  limits: SandboxLimits;
  signal?: AbortSignal | undefined;
}): Promise<EncodedValue | undefined> {
  const { sandbox, hidden, entryPoint, call, signal } = job;
  const programs = [{ source: hidden.canonical, entryPoint }];
  const [rows] = await sandbox.runCalls({ programs, calls: [call], limits: canonicalLimits(job.limits), signal });
  const row = rows?.[0];
  return row?.kind === 'value' ? row.value : undefined;
}

/** The canonical solution gets ten times the time of a candidate: EvalPlus does not bound it at all. */
function canonicalLimits(limits: SandboxLimits): SandboxLimits {
  return { ...limits, cpuSeconds: limits.cpuSeconds * 10 };
}

/** Some tasks return megabytes for each of a thousand tests; what is kept stays below this. */
const CACHE_BYTES = 128 << 20;

interface CacheEntry {
  expected: Promise<Expected>;
  bytes: number;
}

const caches = new WeakMap<Sandbox, Map<string, CacheEntry>>();

/**
 * Runs the canonical solution on the task's inputs, in the sandbox like any other program. Kept in memory for each sandbox by task;
 * a sandbox has one environment for its lifetime, so its fingerprint need not be part of the key.
 */
export async function expectedOutputs(job: {
  sandbox: Sandbox;
  hidden: EvalPlusTests;
  entryPoint: string;
  limits: SandboxLimits;
  signal?: AbortSignal | undefined;
}): Promise<Expected> {
  const { sandbox, hidden } = job;
  const cache = caches.get(sandbox) ?? new Map<string, CacheEntry>();
  caches.set(sandbox, cache);
  const key = JSON.stringify([
    hidden.dataset,
    hidden.taskId,
    hidden.canonical,
    hidden.baseInputs.length,
    hidden.plusInputs.length,
    job.limits,
  ]);
  const known = cache.get(key);
  if (known !== undefined) return known.expected;
  const entry: CacheEntry = { expected: computeExpected(job), bytes: 0 };
  cache.set(key, entry);
  try {
    const expected = await entry.expected;
    entry.bytes = expected.kind === 'outputs' ? sizeOf(expected.base) + sizeOf(expected.plus) : 0;
    trim(cache);
    return expected;
  } catch (error) {
    cache.delete(key);
    throw error;
  }
}

function sizeOf(run: TestRun): number {
  return [...run.calls, ...run.expected].reduce((sum, text) => sum + text.length, 0);
}

function trim(cache: Map<string, CacheEntry>): void {
  let total = [...cache.values()].reduce((sum, entry) => sum + entry.bytes, 0);
  for (const [key, entry] of cache) {
    if (total <= CACHE_BYTES) return;
    cache.delete(key);
    total -= entry.bytes;
  }
}

async function computeExpected(job: {
  sandbox: Sandbox;
  hidden: EvalPlusTests;
  entryPoint: string;
  limits: SandboxLimits;
  signal?: AbortSignal | undefined;
}): Promise<Expected> {
  const { sandbox, hidden, entryPoint, limits, signal } = job;
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
  if (inputs.kind === 'failed')
    return { kind: 'unusable', reason: `the inputs cannot be read: ${inputs.reason} ${inputs.detail}` };
  const { base, plus } = inputs.reply;
  const program = digesting({ source: hidden.canonical, entryPoint });
  const [rows = []] = await sandbox.runCalls({
    programs: [program],
    calls: [...base, ...plus],
    limits: canonicalLimits(limits),
    stopAfter: 1,
    signal,
  });
  const expected: EncodedValue[] = [];
  for (const row of rows) {
    if (row.kind !== 'value')
      return { kind: 'unusable', reason: `the canonical solution cannot be run: ${describe(row)}` };
    expected.push(row.value);
  }
  if (expected.length !== base.length + plus.length)
    return { kind: 'unusable', reason: 'the canonical solution left tests without output' };
  return {
    kind: 'outputs',
    base: testRun(base, expected.slice(0, base.length)),
    plus: testRun(plus, expected.slice(base.length)),
  };
}

function describe(row: Exclude<OutputRow, { kind: 'value' }>): string {
  return row.kind === 'exception' ? `${row.type}: ${row.message}` : row.kind;
}

function testRun(calls: EncodedValue[], expected: EncodedValue[]): TestRun {
  return { calls, expected, firstFloats: expected.findIndex(isFloats), digests: expected.some(isDigest) };
}

/** Reads the encoding's outline only: `{"f":…}`, or a list or tuple of nothing else. */
function isFloats(value: EncodedValue): boolean {
  if (isDigest(value)) return isDigestOfFloats(value);
  const list = value.startsWith('{"t":') ? value.slice(5, -1) : value;
  return /^\{"f":"[^"]*"\}$/.test(value) || /^\[(?:\{"f":"[^"]*"\},?)+\]$/.test(list);
}
