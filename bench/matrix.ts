/** Many programs against many inputs: what the sandbox adds to the time that the programs take by themselves. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expectedOutputs } from '../src/grading/expected-outputs.ts';
import { POOL_LIMITS, POOL_STOP_AFTER, runPool } from '../src/grading/run-pool.ts';
import { type Benchmark, openBenchmark } from '../src/problems/benchmark.ts';
import { readDatasetText } from '../src/problems/dataset-text.ts';
import { type HiddenBenchmark, openHiddenTests } from '../src/problems/hidden.ts';
import { connectDocker } from '../src/sandbox/docker-engine.ts';
import { createDockerSandbox } from '../src/sandbox/docker-sandbox.ts';
import { ensureSandboxImage } from '../src/sandbox/image.ts';
import type { CallsJob, Program, Sandbox } from '../src/sandbox/sandbox.ts';
import { readProgramPools, readTestPools } from '../src/selection/pool-files.ts';
import { testsThatCanRun } from '../src/selection/tests-that-can-run.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import { dataDir } from '../test/support/data.ts';
import { type BenchOptions, median } from './figure.ts';

const SLOTS = Math.min(2, availableParallelism());
const PROGRAMS = 100;
const INPUTS = 100;
/** Of HumanEval's 164, evenly spread, unless `--tasks` says otherwise: 164 take some minutes a round. */
const SAMPLE = 12;

/**
 * CodeT's 100 programs of a task, most of them wrong and some endless. `inputs`: on the first 100 inputs that HumanEval+ has for it (43 tasks
 * have fewer), outputs as they come from the sandbox. `tests`: on the distinct tests of the same model, statuses as `select` gets them.
 */
export async function matrix({ rounds, tasks = SAMPLE, wanted, report, note }: BenchOptions): Promise<void> {
  if (dataDir === undefined) throw new Error('the bench needs the samples of CodeT: set QUALITYFLOW_DATA_DIR');
  const source = { benchmark: 'humaneval+', dataDir, home: projectHome(process.env) } as const;
  const [benchmark, sealed] = [await openBenchmark(source), await openHiddenTests(source)];
  const pools = await readPools(benchmark, dataDir);
  const step = benchmark.size / Math.min(tasks, benchmark.size);
  const chosen = benchmark.taskIds.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  const docker = connectDocker({ env: process.env });
  const { imageId } = await ensureSandboxImage({ docker, home: source.home, log: note });
  const sandbox = await createDockerSandbox({ docker, imageId, slots: SLOTS, log: note });
  try {
    const of = `${chosen.length} of ${benchmark.size} tasks`;
    if (wanted('inputs')) {
      const jobs: CallsJob[] = [];
      for (const taskId of chosen) jobs.push(await inputsJob({ sandbox, benchmark, sealed, taskId, pools }));
      const cells = jobs.reduce((sum, job) => sum + job.programs.length * job.calls.length, 0);
      note(`${cells} cells of ${of}: what the programs take by themselves`);
      const own = await ownSeconds(sandbox, jobs);
      const taken: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const begin = performance.now();
        // The next task is handed over while one runs, as in a sweep.
        await inTurn(jobs, SLOTS, (job) => sandbox.runCalls(job));
        taken.push((performance.now() - begin) / 1000);
      }
      const seconds = median(taken);
      report({
        figure: `inputs, ${of}, ${cells} cells`,
        value: cells / seconds,
        unit: 'cells/s',
        reference: null,
        ratio: null,
        mark: { of: 'value', atLeast: 15_000 },
      });
      report({
        figure: `inputs, ${of}: processor time beside the programs' own`,
        value: seconds * SLOTS,
        unit: 's',
        reference: own,
        ratio: (seconds * SLOTS) / own,
        mark: { of: 'ratio', atMost: 1.35 },
      });
    }
    if (wanted('tests')) {
      let cells = 0;
      const begin = performance.now();
      await inTurn(chosen, SLOTS, async (taskId) => {
        const problem = benchmark.problem(taskId);
        const programs = pools.programs.get(taskId) ?? [];
        const all = [...(pools.tests.get(taskId)?.keys() ?? [])];
        const distinct = [...new Set(programs)];
        const tests = testsThatCanRun({ tests: all, setup: problem.preamble, programs: distinct });
        await runPool({ sandbox, problem, programs, tests });
        cells += distinct.length * tests.length;
      });
      const seconds = (performance.now() - begin) / 1000;
      report({
        figure: `tests, ${of}, ${cells} distinct cells`,
        value: seconds,
        unit: 's',
        reference: null,
        ratio: null,
      });
      report({
        figure: 'tests, all tasks, by that',
        value: (seconds * benchmark.size) / chosen.length,
        unit: 's',
        reference: null,
        ratio: null,
        mark: { of: 'value', atMost: 120 },
      });
    }
  } finally {
    await sandbox.close();
  }
}

interface Pools {
  programs: Map<string, string[]>;
  tests: Map<string, Map<string, number>>;
}

async function readPools(benchmark: Benchmark, data: string): Promise<Pools> {
  const problems = benchmark.taskIds.map((taskId) => benchmark.problem(taskId));
  const tasks = { byId: (id: string) => benchmark.problem(id), all: problems };
  const text = async (what: string) =>
    (await readDatasetText(join(data, 'codet', `HumanEval_codegen16B_${what}.jsonl.gz`))).text;
  return {
    programs: readProgramPools(await text('solutions'), tasks).pools,
    tests: readTestPools(await text('tests'), tasks).pools,
  };
}

async function inputsJob(input: {
  sandbox: Sandbox;
  benchmark: Benchmark;
  sealed: HiddenBenchmark;
  taskId: string;
  pools: Pools;
}): Promise<CallsJob> {
  const { sandbox, benchmark, sealed, taskId, pools } = input;
  const hidden = sealed.hidden(taskId);
  const { entryPoint } = benchmark.problem(taskId);
  if (hidden.kind !== 'evalplus') throw new Error(`${taskId} has no inputs`);
  const expected = await expectedOutputs({ sandbox, hidden, entryPoint });
  if (expected.kind !== 'outputs') throw new Error(`${taskId}: ${expected.reason}`);
  const calls = [...expected.base.calls, ...expected.plus.calls].slice(0, INPUTS);
  const programs = (pools.programs.get(taskId) ?? []).slice(0, PROGRAMS).map((source) => ({ source, entryPoint }));
  return { programs, calls, limits: POOL_LIMITS, stopAfter: POOL_STOP_AFTER };
}

/** CPU seconds of loading each program and making its calls in a bare loop, which it is trusted to measure itself. */
async function ownSeconds(sandbox: Sandbox, jobs: readonly CallsJob[]): Promise<number> {
  let total = 0;
  for (const { programs, calls, limits } of jobs) {
    const rows = await sandbox.runCalls({
      programs: programs.map((program) => bareLoop(program, limits.cpuSeconds)),
      calls: [`[[[${calls.map((call) => JSON.stringify(call)).join(',')}]],{"d":[]}]`],
      limits: { ...limits, cpuSeconds: 10 },
    });
    // One that hangs in its own way has the time that the matrix gives to two of its calls.
    for (const [row] of rows)
      total += row?.kind === 'value' ? Number(row.value) / 1e6 : limits.cpuSeconds * POOL_STOP_AFTER;
  }
  return total;
}

function bareLoop({ source, entryPoint }: Program, seconds: number): Program {
  return {
    entryPoint: '__bare_loop',
    source: `
def __bare_loop(calls):
    import qf_encoding, signal, time
    calls = [qf_encoding.decode_call(call) for call in calls]
    clock, slow = time.process_time, 0
    def ring(*_):
        raise TimeoutError("__bare_loop")
    signal.signal(signal.SIGPROF, ring)
    start = clock()
    try:
        space = {}
        exec(compile(${JSON.stringify(source)}, "<program>", "exec"), space)
        function = space[${JSON.stringify(entryPoint)}]
        for positional, named in calls:
            begin = clock()
            signal.setitimer(signal.ITIMER_PROF, ${seconds}, ${seconds})
            try:
                function(*positional, **named)
            except BaseException:
                pass
            signal.setitimer(signal.ITIMER_PROF, 0)
            slow += clock() - begin >= ${seconds}
            if slow >= ${POOL_STOP_AFTER}:
                break
    except BaseException:
        pass
    return round((clock() - start) * 1e6)
`,
  };
}

async function inTurn<Item>(items: readonly Item[], workers: number, work: (item: Item) => Promise<unknown>) {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
