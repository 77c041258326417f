import type { ProblemInput, RunKey } from '../activities/contract.ts';
import { problemAttributes, StageKey } from './search-attributes.ts';
import { summary } from './summary.ts';

/** What a sweep says about each of its problems. */
export type ProblemPlan = Omit<ProblemInput, 'run' | 'queues'>;

/**
 * A task that a killed worker had is given to the next one after this time, about as long as that needs to start. Much less would repeat
 * tasks on a machine that is only busy.
 */
export const WORKFLOW_TASK_TIMEOUT = '5s';

/** How `solveProblem` is started, by a shard or by hand: its input, and what Temporal UI shows of it. Importable from workflow code. */
export function problemStart({
  workflowId,
  run,
  plan,
  queues,
}: {
  workflowId: string;
  run: RunKey;
  plan: ProblemPlan;
  queues: ProblemInput['queues'];
}) {
  const { sweep, taskId, sample, attempt } = run;
  const { benchmark, strategy, model, endpointIdentity, seed, maxWaitMs } = plan;
  const input: ProblemInput = { run, benchmark, strategy, model, endpointIdentity, seed, maxWaitMs, queues };
  return {
    workflowId,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    typedSearchAttributes: [
      ...problemAttributes({ sweep, benchmark, strategy: strategy.kind, model: model.name, taskId }),
      { key: StageKey, value: 'generate' },
    ],
    staticSummary: summary(`${taskId}, sample ${sample} · ${strategy.kind} · ${model.name}`),
    staticDetails: [
      `Task **${taskId.slice(0, 200)}**, sample ${sample}, attempt ${attempt} of sweep **${sweep}**`,
      `* model ${model.name} at ${endpointIdentity}`,
      `* strategy ${JSON.stringify(strategy)}`,
      `* each activity is one model request or one sandbox job: its input holds what the agent knew, its result prompt, reply, code or verdict`,
      `* the whole texts: \`qualityflow show ${sweep} ${JSON.stringify(taskId.slice(0, 200))} --full\``,
    ].join('\n'),
    args: [input] as [ProblemInput],
  };
}
