import { z } from 'zod';
import type { HiddenTests } from '../problems/hidden-tests.ts';
import {
  type EncodedValue,
  type OutputRow,
  type Sandbox,
  SandboxError,
  type SandboxLimits,
} from '../sandbox/sandbox.ts';
import { digesting, isDigest, isDigestOfFloats } from './digest-program.ts';
import { askJudge } from './judge-job.ts';
import { KeptForSandbox } from './kept-for-sandbox.ts';

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

const kept = new KeptForSandbox<Expected>({ bytes: CACHE_BYTES });

/**
 * Runs the canonical solution on the task's inputs, in the sandbox like any other program. Kept in memory for each sandbox by task;
 * a sandbox has one environment for its lifetime, so its fingerprint need not be part of the key. No candidate is involved: what is
 * neither a value nor the task's own fault (timeout, memory, crash) is the machine's, and a `SandboxError`.
 */
export async function expectedOutputs(job: {
  sandbox: Sandbox;
  hidden: EvalPlusTests;
  entryPoint: string;
  limits: SandboxLimits;
  signal?: AbortSignal | undefined;
}): Promise<Expected> {
  const { sandbox, hidden } = job;
  const key = JSON.stringify([
    hidden.dataset,
    hidden.taskId,
    hidden.canonical,
    hidden.baseInputs.length,
    hidden.plusInputs.length,
    job.limits,
  ]);
  const known = kept.get(sandbox, key);
  if (known !== undefined) return known;
  const expected = await computeExpected(job);
  if (expected.kind === 'outputs') kept.put(sandbox, key, expected, sizeOf(expected.base) + sizeOf(expected.plus));
  return expected;
}

function sizeOf(run: TestRun): number {
  return [...run.calls, ...run.expected].reduce((sum, text) => sum + text.length, 0);
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
  if (inputs.kind === 'failed') {
    const reason = `the inputs cannot be read: ${inputs.reason} ${inputs.detail}`;
    if (inputs.reason !== 'exception') throw new SandboxError(`${taskId}: ${reason}`);
    return { kind: 'unusable', reason };
  }
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
