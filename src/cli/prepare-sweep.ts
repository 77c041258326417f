import { type Endpoint, resolveEndpoint } from '../models/endpoints.ts';
import { probeEndpoint } from '../models/probe.ts';
import { type Benchmark, openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { selectTasks } from '../problems/select-tasks.ts';
import { tasksWithShownHidden } from '../problems/shown-hidden.ts';
import { planRequests, type RequestPlan } from '../spec/plan.ts';
import type { SweepSpec } from '../spec/spec.ts';
import { type Context, note } from './context.ts';
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
  /** The offline scripted model answers, at whatever address; a dry run does not ask. */
  scripted: boolean;
  /** Environment for the workers: `--data-dir` travels in it. */
  env: Context['env'];
}

/** Resolves the endpoint, opens the benchmark, selects its tasks and, but for a dry run, asks the endpoint for its models. Throws what a person reads. */
export async function prepareSweep(input: {
  context: Context;
  spec: SweepSpec;
  dataDir?: string | undefined;
  dryRun?: boolean | undefined;
}): Promise<PreparedSweep> {
  const { context, spec } = input;
  const endpoint = resolveEndpoint({ endpoint: spec.model.endpoint, env: context.env });
  refuseUnmeantScript(endpoint, spec.model);
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const benchmark = await openBenchmark({ benchmark: spec.benchmark, dataDir, home: context.home });
  const tasks = selectTasks({ benchmark, tasks: spec.tasks, shuffle: spec.shuffle, limit: spec.limit });
  for (const taskId of tasks) benchmark.problem(taskId);
  await refuseShownTests({ context, spec, dataDir, tasks });
  const scripted = input.dryRun === true ? endpoint.scripted : await requireModel(endpoint, spec.model.name);
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
    scripted,
    env: dataDir === undefined ? context.env : { ...context.env, QUALITYFLOW_DATA_DIR: dataDir },
  };
}

/** The scripted model is ours and starts with the workers; any other must answer now. True when what answers is scripted, too. */
async function requireModel(endpoint: Endpoint, model: string): Promise<boolean> {
  if (endpoint.scripted) return true;
  const probe = await probeEndpoint({ endpoint, model });
  if (probe.kind === 'ok') return probe.scripted;
  throw new UserError({
    message: `The model cannot be asked: ${probe.problem}`,
    remedy: capitalised(probe.remedy),
    exitCode: probe.cause === 'unreachable' ? 3 : 2,
  });
}

/** Without an endpoint in the environment the default is the scripted model; whoever names a real one has forgotten to set it. */
function refuseUnmeantScript(endpoint: Endpoint, model: SweepSpec['model']): void {
  if (!endpoint.scripted || model.endpoint === 'scripted' || model.name === 'scripted') return;
  throw new UserError({
    message: `OPENAI_BASE_URL and OPENAI_API_KEY are not set, so there is no endpoint to ask for the model ${JSON.stringify(model.name)}`,
    remedy: 'Set them, or name the offline model, which is called `scripted`',
    exitCode: 2,
  });
}

/** The rule for MBPP (`parse-spec.ts`) for own files, where only their content tells: a checker must not run what it is graded by. */
async function refuseShownTests(input: {
  context: Context;
  spec: SweepSpec;
  dataDir: string | undefined;
  tasks: readonly string[];
}): Promise<void> {
  const { strategy, benchmark } = input.spec;
  if (strategy.kind !== 'quality-flow' || strategy.checker !== 'python') return;
  const source = { benchmark, dataDir: input.dataDir, home: input.context.home };
  const { all, some } = await tasksWithShownHidden(source, input.tasks);
  const remedy = `\`qualityflow problems lint ${benchmark}\` names the tests`;
  if (all.length > 0) {
    throw new UserError({
      message: `python (Relaxed) cannot be used with ${benchmark}: the visible tests of ${told(all)} are the ones it is graded by`,
      remedy: `Use imagined (Standard), or other hidden tests; ${remedy}`,
      exitCode: 2,
    });
  }
  if (some.length > 0) {
    const text = `Some hidden tests of ${told(some)} are visible too, and the checker runs those: its word says little there; ${remedy}.`;
    note(input.context, text);
  }
}

function told(tasks: readonly string[]): string {
  const shown = tasks.slice(0, 3).join(', ');
  return tasks.length > 3 ? `${shown} and ${tasks.length - 3} more` : shown;
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
