import { availableParallelism } from 'node:os';
import type Docker from 'dockerode';
import { z } from 'zod';
import type { RunnerFrame } from './frames.ts';
import { createPool, type Pool, type Task } from './pool.ts';
import { parseOutputRow, parseStdioRow, type RowTag, type Waited, whoWaited } from './rows.ts';
import {
  type CallsJob,
  type JudgeJob,
  type JudgeResult,
  type OutputRow,
  type Sandbox,
  SandboxError,
  type SandboxFingerprint,
  type StdioJob,
  type StdioRow,
} from './sandbox.ts';
import { openSlot, type RunnerJob, type Slot, SlotLost } from './slot.ts';
import { sweepLeftovers } from './sweeper.ts';
import { messageOf, within } from './within.ts';

/** Judges hold the outputs of many programs at once. */
const JUDGE_MEMORY_BYTES = 2 * 1024 ** 3;

interface DockerSandboxOptions {
  docker: Docker;
  imageId: string;
  /** Containers for programs; as many again for each kind of judge, opened when first needed. Never more than cores. */
  slots?: number | undefined;
  /** As `chosenRuntime` gave it. */
  runtime?: string | undefined;
  log?: ((line: string) => void) | undefined;
}

/**
 * The sandbox on one Docker engine: warm containers, one program at a time in each. Starts by removing what dead processes left behind.
 * `close` it: idle containers keep the process alive.
 *
 * A container that is lost (removed from outside, out of memory as a whole) is replaced and its program run once more. A program whose
 * containers are lost twice, while a fresh one works, gets `crash` for every call; when a fresh one does not work either, `SandboxError`.
 *
 * A program that the wall clock ended with half of its CPU time unused is run once more, alone in this sandbox. If it lay asleep again by a call of
 * its own it is `timeout`; if the machine kept it from running again, `SandboxError`.
 */
export async function createDockerSandbox(options: DockerSandboxOptions): Promise<Sandbox> {
  const { docker, imageId, runtime, log } = options;
  const size = Math.max(1, Math.min(options.slots ?? availableParallelism(), availableParallelism()));
  const swept = await sweepLeftovers({ docker });
  if (swept > 0) log?.(`removed ${swept} containers of processes that have ended`);
  const pool = (role: string): Pool =>
    createPool({ size, open: (memoryBytes) => openSlot({ docker, imageId, role, runtime, memoryBytes }) });
  const programs = pool('programs');
  const judges = { benchmark: pool('judge-benchmark'), model: pool('judge-model') };
  let fingerprint: Promise<SandboxFingerprint> | undefined;

  /** Undefined when the work itself takes its containers down. */
  const runOrBlame = async <T>(target: Pool, task: Task<T>): Promise<T | undefined> => {
    try {
      return await target.run(task);
    } catch (error) {
      if (!(error instanceof SlotLost)) throw error;
      await target.run({ memoryBytes: task.memoryBytes, signal: task.signal, execute: (slot) => readVersions(slot) });
      log?.(`${error.message}; twice with the same program`);
      return undefined;
    }
  };

  /** Rows of one program; undefined as above. */
  const runProgram = async <Row>(task: Task<Collected<Row>>): Promise<Row[] | undefined> => {
    const first = await runOrBlame(programs, task);
    if (first?.waited === undefined) return first?.rows;
    const second = await runOrBlame(programs, { ...task, alone: true });
    if (second?.waited === 'machine')
      throw new SandboxError('this machine is too busy to run programs: one was kept from running twice, once alone');
    return second?.rows;
  };

  return {
    runCalls({ programs: items, calls, limits, slowCalls, prints, stopAfter, signal }: CallsJob) {
      return eachProgram(items, signal, async (program, either) => {
        if (calls.length === 0) return [];
        const job = {
          request: { op: 'calls', count: calls.length, limits, slowCalls, prints, stopAfter },
          payload: { ...program, calls },
        };
        const rows = await runProgram({
          memoryBytes: limits.memoryBytes,
          signal: either,
          execute: (slot) =>
            collectRows<OutputRow>({
              slot,
              job,
              count: calls.length,
              parse: parseOutputRow,
              ofOutput: () => undefined,
            }),
        });
        return rows ?? Array.from(calls, () => ({ kind: 'crash', detail: LOST }) as const);
      });
    },

    runStdio({ programs: items, inputs, limits, stopAfter, signal }: StdioJob) {
      return eachProgram(items, signal, async (program, either) => {
        if (inputs.length === 0) return [];
        const job = {
          request: { op: 'stdio', count: inputs.length, limits, stopAfter },
          payload: { ...program, inputs },
        };
        const rows = await runProgram({
          memoryBytes: limits.memoryBytes,
          signal: either,
          execute: (slot) =>
            collectRows<StdioRow>({
              slot,
              job,
              count: inputs.length,
              parse: parseStdioRow,
              ofOutput: (output) => ({ kind: 'value', stdout: output.toString('utf8') }),
            }),
        });
        return rows ?? Array.from(inputs, () => ({ kind: 'crash', detail: LOST }) as const);
      });
    },

    async runJudge({ source, input, trust, seconds, signal }: JudgeJob): Promise<JudgeResult> {
      const job = { request: { op: 'judge', source, seconds, memoryBytes: JUDGE_MEMORY_BYTES }, payload: { input } };
      const result = await runOrBlame(judges[trust], {
        memoryBytes: JUDGE_MEMORY_BYTES,
        signal,
        execute: (slot) => judge(slot, job),
      });
      return result ?? { kind: 'failed', reason: 'crash', detail: LOST };
    },

    fingerprint() {
      fingerprint ??= readFingerprint({ docker, imageId, programs }).catch((error: unknown) => {
        fingerprint = undefined;
        throw error;
      });
      return fingerprint;
    },

    async close() {
      await Promise.all([programs.close(), judges.benchmark.close(), judges.model.close()]);
    },
  };
}

type Crash = { kind: 'crash'; detail: string };
const LOST = 'took its container down twice';

/** All programs of a job; the first failure of the infrastructure ends the others. */
async function eachProgram<P, R>(
  items: P[],
  signal: AbortSignal | undefined,
  run: (item: P, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failed = new AbortController();
  const either = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const runs = items.map((item) => run(item, either));
  try {
    return await Promise.all(runs);
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(runs);
    throw error;
  }
}

interface Collected<Row> {
  rows: Row[];
  /** Some row is a timeout of which this must be asked; `machine` where it was the machine for any. */
  waited: Waited | undefined;
}

type SomeRow = OutputRow | StdioRow;

async function collectRows<Row extends SomeRow>(options: {
  slot: Slot;
  job: RunnerJob;
  count: number;
  parse: (body: Buffer, tag: RowTag) => Row;
  ofOutput: (output: Buffer) => Row | undefined;
}): Promise<Collected<Row | Crash>> {
  const { slot, job, count, parse, ofOutput } = options;
  const rows: (Row | undefined)[] = Array.from({ length: count }, () => undefined);
  const near = new Set<number>();
  let waited: Waited | undefined;
  const put = (row: Row | undefined, from: number, howMany: number): void => {
    if (from + howMany > count) throw new SandboxError('the runner answered a call that was not asked');
    for (let index = from; index < from + howMany; index++) {
      if (rows[index] !== undefined) throw new SandboxError('the runner answered a call twice');
      rows[index] = row;
    }
  };
  const { recycled } = await send(slot, job, ({ tag, body }) => {
    if (tag === 'R' || tag === 'N') put(parse(body.subarray(8), tag), body.readUInt32BE(0), body.readUInt32BE(4));
    if (tag === 'N' && waited !== 'machine') waited = whoWaited(body.subarray(8)) ?? waited;
    if (tag === 'S') put(ofOutput(body.subarray(4)), body.readUInt32BE(0), 1);
    if (tag === 'B') near.add(body.readUInt32BE(0));
  });
  return {
    waited,
    rows: rows.map((row, index) => {
      if (row !== undefined) return near.has(index) ? markedNear(row) : row;
      if (recycled) return { kind: 'crash', detail: 'left its container in a state that could not be cleaned' };
      throw new SandboxError('the runner left a row out');
    }),
  };
}

function markedNear<Row extends SomeRow>(row: Row): Row {
  return row.kind === 'value' || row.kind === 'exception' ? { ...row, nearLimit: true } : row;
}

const judgeFailure = z.object({
  kind: z.enum(['timeout', 'memory_limit', 'crash', 'exception']).catch('crash'),
  detail: z.string().default(''),
});

/** Like rows, what comes from a judge is checked for its shape only: tests written by a model run in it. */
async function judge(slot: Slot, job: RunnerJob): Promise<JudgeResult> {
  let result: JudgeResult | undefined;
  await send(slot, job, ({ tag, body }) => {
    if (tag !== 'O' && tag !== 'E') return;
    try {
      const answer: unknown = JSON.parse(body.toString('latin1'));
      if (tag === 'O') {
        result = { kind: 'output', output: z.string().parse(answer) };
      } else {
        const { kind, detail } = judgeFailure.parse(answer);
        result = { kind: 'failed', reason: kind, detail };
      }
    } catch {
      result = { kind: 'failed', reason: 'crash', detail: 'wrote into its result pipe' };
    }
  });
  if (result === undefined) throw new SandboxError('the runner left a judge without a result');
  return result;
}

const versionsMessage = z.object({ versions: z.object({ python: z.string(), numpy: z.string() }) });

async function readVersions(slot: Slot): Promise<{ python: string; numpy: string }> {
  let versions: { python: string; numpy: string } | undefined;
  await send(slot, { request: { op: 'versions' } }, ({ tag, body }) => {
    if (tag !== 'J') return;
    const message = versionsMessage.safeParse(JSON.parse(body.toString('utf8')));
    if (message.success) versions = message.data.versions;
  });
  if (versions === undefined) throw new SandboxError('the runner did not tell its versions');
  return versions;
}

/** A slot that answers what cannot be read is given up at once. */
async function send(slot: Slot, job: RunnerJob, onFrame: (frame: RunnerFrame) => void): Promise<{ recycled: boolean }> {
  let failure: SandboxError | undefined;
  try {
    const end = await slot.run(job, (frame) => {
      try {
        onFrame(frame);
      } catch (error) {
        failure ??= new SandboxError(`the runner's answer could not be read: ${messageOf(error)}`, error);
        slot.close().catch(() => undefined);
      }
    });
    if (failure !== undefined) throw failure;
    return end;
  } catch (error) {
    throw failure ?? error;
  }
}

async function readFingerprint(options: {
  docker: Docker;
  imageId: string;
  programs: Pool;
}): Promise<SandboxFingerprint> {
  const { docker, imageId, programs } = options;
  const image = await within({ ms: 10_000, what: 'inspecting the sandbox image' }, docker.getImage(imageId).inspect());
  const runnerSha256 = image.Config.Labels?.['qualityflow.runner'];
  if (runnerSha256 === undefined)
    throw new SandboxError('the image was not built by this product: run `qualityflow setup`');
  const versions = await programs.run({ memoryBytes: 1 << 30, execute: readVersions });
  return { ...versions, runnerSha256, imageId: image.Id };
}
