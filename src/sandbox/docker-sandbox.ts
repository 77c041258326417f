import { availableParallelism } from 'node:os';
import type Docker from 'dockerode';
import { z } from 'zod';
import { callsRequest, groupsOf, sharedPart } from './calls-payload.ts';
import { collectCalls, collectStdio, collectWhileItLasts, wholeRows } from './collect-rows.ts';
import { createPool, type Pool, type Task } from './pool.ts';
import type { Waited } from './rows.ts';
import {
  type CallsJob,
  type JudgeJob,
  type JudgeResult,
  type OutputRow,
  type Program,
  type Sandbox,
  SandboxError,
  type SandboxFingerprint,
  type StdioJob,
} from './sandbox.ts';
import { sendJob } from './send-job.ts';
import { openSlot, type RunnerJob, type Slot, SlotLost } from './slot.ts';
import { sweepLeftovers } from './sweeper.ts';
import { within } from './within.ts';

/** Judges hold the outputs of many programs at once. */
const JUDGE_MEMORY_BYTES = 2 * 1024 ** 3;

interface DockerSandboxOptions {
  docker: Docker;
  imageId: string;
  /** Containers for programs; half as many for each kind of judge, opened when first needed. Never more than cores. */
  slots?: number | undefined;
  /** As `chosenRuntime` gave it. */
  runtime?: string | undefined;
  /** Starts all containers for programs at once, with room for this, and a benchmark's judge; otherwise each when it is first needed. */
  memoryBytes?: number | undefined;
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
  const pool = (role: string, size: number): Pool =>
    createPool({
      size,
      open: (memoryBytes) =>
        openSlot({ docker, imageId, role, runtime, memoryBytes: Math.max(memoryBytes, options.memoryBytes ?? 0) }),
    });
  const programs = pool('programs', size);
  // A judge has a small part of the work.
  const judging = Math.ceil(size / 2);
  const judges = { benchmark: pool('judge-benchmark', judging), model: pool('judge-model', judging) };
  let fingerprint: Promise<SandboxFingerprint> | undefined;
  if (options.memoryBytes !== undefined) {
    programs.warm({ slots: size, memoryBytes: options.memoryBytes });
    judges.benchmark.warm({ slots: 1, memoryBytes: JUDGE_MEMORY_BYTES });
  }

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
  const runProgram = async <Row>(task: Task<Whole<Row> | undefined>): Promise<Row[] | undefined> => {
    const first = await runOrBlame(programs, task);
    return first?.waited === undefined ? first?.rows : runAgain(task);
  };

  /** Of a program that the wall clock ended, with nothing beside it. */
  const runAgain = async <Row>(task: Task<Whole<Row> | undefined>): Promise<Row[] | undefined> => {
    const second = await runOrBlame(programs, { ...task, alone: true });
    if (second?.waited === 'machine')
      throw new SandboxError('this machine is too busy to run programs: one was kept from running twice, once alone');
    return second?.rows;
  };

  return {
    async runCalls(job: CallsJob) {
      const { programs: items, calls, limits, signal } = job;
      if (calls.length === 0) return items.map(() => []);
      const shared = sharedPart(calls);
      const memoryBytes = limits.memoryBytes;
      const alone = (program: Program, either: AbortSignal) => {
        const request = callsRequest(job, shared, [program]);
        return {
          memoryBytes,
          signal: either,
          execute: async (slot: Slot) => {
            const { found, recycled } = await collectCalls(slot, request, { programs: 1, calls: calls.length });
            return found.map(({ rows, waited }) => ({ rows: wholeRows(rows, recycled), waited }))[0];
          },
        };
      };
      const groups = await eachProgram(groupsOf(items, size), signal, async (group, either) => {
        const request = callsRequest(job, shared, group);
        const of = { programs: group.length, calls: calls.length };
        const execute = (slot: Slot) => collectWhileItLasts(slot, request, of);
        const found = group.length === 1 ? [] : await programs.run({ memoryBytes, signal: either, execute });
        const rows: OutputRow[][] = [];
        for (const [index, program] of group.entries()) {
          const { rows: here = [], waited } = found[index] ?? {};
          const whole = here.flatMap((row) => row ?? []);
          // Which of them brought the container down is found out by running each alone.
          const mended =
            whole.length < calls.length
              ? await runProgram(alone(program, either))
              : waited === undefined
                ? whole
                : await runAgain(alone(program, either));
          rows.push(mended ?? Array.from(calls, () => ({ kind: 'crash', detail: LOST }) as const));
        }
        return rows;
      });
      return groups.flat();
    },

    runStdio({ programs: items, inputs, limits, stopAfter, signal }: StdioJob) {
      return eachProgram(items, signal, async (program, either) => {
        if (inputs.length === 0) return [];
        const job = {
          request: { op: 'stdio', count: inputs.length, limits, stopAfter },
          payload: ofJson({ ...program, inputs }),
        };
        const rows = await runProgram({
          memoryBytes: limits.memoryBytes,
          signal: either,
          execute: async (slot) => {
            const { rows: found, waited, recycled } = await collectStdio(slot, job, inputs.length);
            return { rows: wholeRows(found, recycled), waited };
          },
        });
        return rows ?? Array.from(inputs, () => ({ kind: 'crash', detail: LOST }) as const);
      });
    },

    async runJudge({ source, input, trust, seconds, signal }: JudgeJob): Promise<JudgeResult> {
      const job = {
        request: { op: 'judge', source, seconds, memoryBytes: JUDGE_MEMORY_BYTES },
        payload: ofJson({ input }),
      };
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

interface Whole<Row> {
  rows: Row[];
  waited: Waited | undefined;
}

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

function ofJson(payload: object): Buffer {
  return Buffer.from(JSON.stringify(payload));
}

const judgeFailure = z.object({
  kind: z.enum(['timeout', 'memory_limit', 'crash', 'exception']).catch('crash'),
  detail: z.string().default(''),
});

/** Like rows, what comes from a judge is checked for its shape only: tests written by a model run in it. */
async function judge(slot: Slot, job: RunnerJob): Promise<JudgeResult> {
  let result: JudgeResult | undefined;
  await sendJob(slot, job, ({ tag, body }) => {
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
  await sendJob(slot, { request: { op: 'versions' } }, ({ tag, body }) => {
    if (tag !== 'J') return;
    const message = versionsMessage.safeParse(JSON.parse(body.toString('utf8')));
    if (message.success) versions = message.data.versions;
  });
  if (versions === undefined) throw new SandboxError('the runner did not tell its versions');
  return versions;
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
