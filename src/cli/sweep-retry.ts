import type { Client } from '@temporalio/client';
import { WorkflowFailedError } from '@temporalio/client';
import { recordTermination } from '../activities/record-termination.ts';
import { canonicalTaskId } from '../problems/task-id.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { isFinal } from '../store/final-outcome.ts';
import type { OutcomeRow, Store, SweepRow } from '../store/store.ts';
import { sweepWorkflowId } from '../temporal/ids.ts';
import { problemWorkflowId } from '../temporal/problem-id.ts';
import { problemStart } from '../temporal/problem-start.ts';
import { queuesFor } from '../temporal/queues.ts';
import type { solveProblem } from '../workflows/solve-problem.ts';
import { withStartedTemporal } from './connect.ts';
import { type Context, note, print, printJson } from './context.ts';
import { prepareToGoOn } from './go-on.ts';
import { withSweep } from './open-state.ts';
import { sampleOf } from './sample-flag.ts';
import { problemPage } from './sweep-runs.ts';
import { isRunning, untilClosed } from './until-closed.ts';
import { type ExitCode, UserError } from './user-error.ts';

/**
 * `sweep retry`: runs one problem again, alone. One with a final outcome only by `--force`; stored replies are reused either way, so that
 * what may change is how its programs are graded. Exit 0 when it has a final outcome, 3 when that failed for infrastructure, else 1.
 */
export function retryProblemCommand(input: {
  context: Context;
  name: string;
  task: string;
  sample: string;
  force?: boolean;
  dataDir?: string;
  json?: boolean;
}): Promise<ExitCode> {
  const { context, name } = input;
  return withSweep<ExitCode>(context, name, async (store, sweep) => {
    const taskId = canonicalTaskId({ name: `The sweep ${name}`, taskIds: sweep.tasks }, input.task);
    const key = { sweep: name, taskId, sample: sampleOf(input.sample, sweep.spec.samples) };
    requireGoing(sweep);
    const before = await store.getOutcome(key);
    const closed = before !== undefined && isFinal(before.outcome);
    if (closed && input.force !== true) {
      throw new UserError({
        message: `${taskId} has the final outcome ${before.outcome}`,
        remedy: 'Add --force to run it again all the same: its stored replies are reused, and graded anew',
        exitCode: 2,
      });
    }
    const { prepared } = await prepareToGoOn({ context, sweep, dataDir: input.dataDir });
    return withStartedTemporal<ExitCode>(
      { context, env: prepared.env },
      async ({ client, namespace, uiUrl }): Promise<ExitCode> => {
        // The run of a sweep that is being cancelled takes its problem with it, whoever joins it.
        const workflowId = problemWorkflowId(key);
        await untilClosed({ context, client, workflowId: sweepWorkflowId(name), name: `The sweep ${name}` });
        await untilClosed({ context, client, workflowId, name: terminalLine(taskId) });
        const joins = await isRunning(client, workflowId);
        if (joins) note(context, `${taskId} is running already: this follows it to its end.`);
        // The outcome that was seen: another command may have had the problem run again meanwhile.
        if (closed && !joins) await store.reopenOutcome(before.run);
        const attempt = 1 + ((await store.getOutcome(key))?.run.attempt ?? 0);
        if (uiUrl !== '') note(context, `Temporal UI: ${problemPage(uiUrl, namespace, key)}`);
        const ended = await runProblem({ context, store, client, sweep, run: { ...key, attempt } });
        if (!ended) {
          note(context, `It goes on. \`qualityflow show ${name} ${JSON.stringify(taskId)}\` shows it.`);
          return 130;
        }
        const after = await store.getOutcome(key);
        if (input.json === true)
          printJson(context, { ...key, before: before?.outcome ?? null, outcome: after?.outcome ?? null });
        else print(context, told(taskId, after));
        if (after === undefined || after.outcome === 'infra') return 3;
        return isFinal(after.outcome) ? 0 : 1;
      },
    );
  });
}

function requireGoing({ name, state, stateReason }: SweepRow): void {
  if (state !== 'paused' && state !== 'blocked') return;
  throw new UserError({
    message: state === 'paused' ? `The sweep ${name} is paused` : `The sweep ${name} is blocked: ${stateReason}`,
    remedy:
      state === 'paused'
        ? `Unpause it first: \`qualityflow sweep unpause ${name}\``
        : `Mend that, and go on with it: \`qualityflow sweep resume ${name}\``,
    exitCode: 2,
  });
}

/** Starts the problem, or joins the run of it that is under way, and waits for its end. False when the person stopped waiting. */
async function runProblem(input: {
  context: Context;
  store: Store;
  client: Client;
  sweep: SweepRow;
  run: { sweep: string; taskId: string; sample: number; attempt: number };
}): Promise<boolean> {
  const { context, store, client, run } = input;
  const { spec, endpointIdentity } = input.sweep;
  const queues = queuesFor(spec.model.endpoint);
  const handle = await client.workflow.start<typeof solveProblem>('solveProblem', {
    ...problemStart({ workflowId: problemWorkflowId(run), run, plan: { ...spec, endpointIdentity }, queues }),
    taskQueue: queues.control,
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  const interrupted = Promise.withResolvers<false>();
  const restore = context.onInterrupt(() => interrupted.resolve(false));
  try {
    return await Promise.race([
      handle.result().then(
        () => true,
        async (error: unknown) => {
          if (!(error instanceof WorkflowFailedError)) throw error;
          // How it ended is in its row, unless it was terminated: no shard of a sweep looks after this one.
          await recordTermination({ store, client }, { run, workflowId: handle.workflowId });
          return true;
        },
      ),
      interrupted.promise,
    ]);
  } finally {
    restore();
  }
}

function told(taskId: string, row: OutcomeRow | undefined): string {
  if (row === undefined) return terminalLine(`${taskId}: ended without an outcome`);
  return terminalLine(`${taskId}: ${row.outcome} (${row.finalStep}). ${row.detail}`);
}
