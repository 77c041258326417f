import { type Endpoint, resolveEndpoint } from '../models/endpoints.ts';
import { probeEndpoint } from '../models/probe.ts';
import { type Benchmark, openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { selectTasks } from '../problems/select-tasks.ts';
import { planRequests, type RequestPlan } from '../spec/plan.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { Context } from './context.ts';
import { defaultMaxTokens } from './prompt-facts.ts';
import { UserError } from './user-error.ts';

/** A sweep of which everything is known that can be known without starting anything or spending a token. */
export interface PreparedSweep {
  /** Task ids are canonical. */
  spec: SweepSpec;
  benchmark: Benchmark;
  /** In planned order; never empty. */
  tasks: string[];
  endpoint: Endpoint;
  /** Environment for the workers: `--data-dir` travels in it. */
  env: Context['env'];
}

/** Opens the benchmark, selects its tasks, resolves the endpoint and asks it for its models. Throws what a person reads. */
export async function prepareSweep(input: {
  context: Context;
  spec: SweepSpec;
  dataDir?: string | undefined;
}): Promise<PreparedSweep> {
  const { context, spec } = input;
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const benchmark = await openBenchmark({ benchmark: spec.benchmark, dataDir, home: context.home });
  const tasks = selectTasks({ benchmark, tasks: spec.tasks, shuffle: spec.shuffle, limit: spec.limit });
  for (const taskId of tasks) benchmark.problem(taskId);
  const endpoint = resolveEndpoint({ endpoint: spec.model.endpoint, env: context.env });
  await requireModel(endpoint, spec.model.name);
  const canonical = spec.tasks === undefined ? undefined : selectTasks({ benchmark, tasks: spec.tasks });
  return {
    spec: {
      ...spec,
      ...(canonical === undefined ? {} : { tasks: canonical }),
      // Said outright: an environment that changes later must not lead a scripted sweep to a real model.
      model: endpoint.scripted ? { ...spec.model, endpoint: 'scripted' } : spec.model,
    },
    benchmark,
    tasks,
    endpoint,
    env: dataDir === undefined ? context.env : { ...context.env, QUALITYFLOW_DATA_DIR: dataDir },
  };
}

/** The scripted model is ours and starts with the workers; any other must answer now. */
async function requireModel(endpoint: Endpoint, model: string): Promise<void> {
  if (endpoint.scripted) return;
  const probe = await probeEndpoint({ endpoint, model });
  if (probe.kind === 'ok') return;
  const exitCode = /cannot be reached|answers HTTP/.test(probe.problem) ? 3 : 2;
  throw new UserError({
    message: `The model cannot be asked: ${probe.problem}`,
    remedy: capitalised(probe.remedy),
    exitCode,
  });
}

export function planOf({ spec, benchmark, tasks }: PreparedSweep): RequestPlan {
  const sizes = tasks.map((taskId) => {
    const { statement, visibleTests } = benchmark.problem(taskId);
    const texts = [
      statement,
      ...visibleTests.map((test) => (test.kind === 'assert' ? test.source : test.stdin + test.stdout)),
    ];
    return { visibleTests: visibleTests.length, bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
  });
  return planRequests(spec, { tasks: sizes, defaultMaxTokens: defaultMaxTokens() });
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
