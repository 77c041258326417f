import { readStepResult } from '../reports/step-result.ts';
import { buildProblemStory } from '../reports/story.ts';
import { count, duration } from '../reports/terminal.ts';
import { terminalLine, terminalSafe } from '../reports/terminal-safe.ts';
import type { OutcomeRow, StepRow, Store, SweepRow } from '../store/store.ts';
import { withStartedTemporal } from './connect.ts';
import { type Context, note, paint, print, printJson } from './context.ts';
import { ensureReady } from './ensure-ready.ts';
import { followRun } from './follow-sweep.ts';
import { createSweep } from './launch-sweep.ts';
import { withStore } from './open-state.ts';
import { prepareSweep } from './prepare-sweep.ts';
import { type SolveTarget, solveTarget } from './solve-target.ts';
import { nameFrom, readSpec, SOLVE_PREFIX, type SpecFlags } from './spec-input.ts';
import { sandboxFingerprint, surroundingsOf } from './surroundings.ts';
import { showResult } from './sweep-result.ts';
import { announce } from './sweep-run.ts';
import { problemPage, startSweep } from './sweep-runs.ts';
import type { ExitCode } from './user-error.ts';

type SolveFlags = Pick<SpecFlags, 'strategy' | 'model' | 'endpoint' | 'api' | 'maxTokens' | 'seed'>;

/**
 * `solve`: a sweep of one task under a name of its own. The story goes to stderr as it happens, the program to stdout. Exit 1 when the
 * program is wrong or there is none; a prompt of one's own has nothing hidden to be graded by, and gets no verdict.
 */
export async function solveCommand(
  input: { context: Context; problem: string; entryPoint?: string; dataDir?: string; json?: boolean } & SolveFlags,
): Promise<ExitCode> {
  const { context, problem, entryPoint, dataDir, json, ...given } = input;
  const target = await solveTarget({ context, problem, entryPoint });
  const flags: SpecFlags = {
    ...given,
    name: nameFrom(`${SOLVE_PREFIX}${target.task}`),
    benchmark: target.benchmark,
    task: [target.task],
  };
  const spec = await readSpec({ context, file: undefined, flags });
  const prepared = await prepareSweep({ context, spec, dataDir });
  await ensureReady({ context, env: prepared.env });
  const surroundings = surroundingsOf(prepared, await sandboxFingerprint(context));
  return withStore(context, (store) =>
    withStartedTemporal<ExitCode>({ context, prepared }, async ({ client, namespace, uiUrl }) => {
      const sweep = await createSweep({ store, prepared, surroundings });
      await startSweep(client, sweep);
      const key = { sweep: sweep.name, taskId: prepared.tasks[0] ?? '', sample: 0 };
      announce(context, sweep, uiUrl === '' ? '' : problemPage(uiUrl, namespace, key));
      const told = new Set<string>();
      const look = async () => {
        for (const step of await store.steps(key)) {
          const id = `${step.run.attempt} ${step.step} ${step.startedAt}`;
          if (!told.has(id)) note(context, storyLine(step));
          told.add(id);
        }
      };
      const followed = await followRun({ context, store, client, sweep: sweep.name, look });
      if (followed.kind !== 'ended') return showResult({ context, store, sweep, followed, json: json === true });
      return tellEnd({ context, store, sweep, target, taskId: key.taskId, json: json === true });
    }),
  );
}

function storyLine({ step, result, reused, durationMs }: StepRow): string {
  return terminalLine(
    `${step.padEnd(28)} ${readStepResult(result).summary} (${reused ? 'from the store' : duration(durationMs)})`,
  );
}

async function tellEnd(input: {
  context: Context;
  store: Store;
  sweep: SweepRow;
  target: SolveTarget;
  taskId: string;
  json: boolean;
}): Promise<ExitCode> {
  const { context, store, sweep, target, taskId } = input;
  const outcome = await store.getOutcome({ sweep: sweep.name, taskId, sample: 0 });
  const program =
    outcome === undefined || outcome.submission === null ? null : (outcome.trail[outcome.submission]?.code ?? null);
  if (input.json) {
    const story = await buildProblemStory({ store, sweep: sweep.name, taskId, sample: 0 });
    printJson(context, {
      sweep: sweep.name,
      taskId,
      graded: target.graded,
      verdict: target.graded ? (outcome?.outcome ?? null) : null,
      program,
      story,
    });
  } else {
    context.stderr.write(`${ending(context, outcome, target)}\n`);
    note(context, `Every prompt and reply: qualityflow show ${sweep.name} ${terminalLine(taskId)}`);
    if (program !== null) print(context, terminalSafe(program));
  }
  if (outcome === undefined || outcome.outcome === 'infra') return 3;
  return (target.graded ? outcome.outcome === 'pass' : program !== null) ? 0 : 1;
}

function ending(context: Context, outcome: OutcomeRow | undefined, { graded }: SolveTarget): string {
  if (outcome === undefined) return 'It ended without an outcome.';
  const cost = `${count(outcome.requests)} ${outcome.requests === 1 ? 'request' : 'requests'} sent, ${count(outcome.tokens)} tokens`;
  if (!graded && outcome.submission !== null) {
    return `${terminalLine(outcome.finalStep)}; not graded: there are no hidden tests for a prompt of your own (${cost}).`;
  }
  const style = outcome.outcome === 'pass' ? 'green' : 'red';
  return `${paint(context.stderr, [style, 'bold'], outcome.outcome)} (${terminalLine(outcome.finalStep)}). ${terminalLine(outcome.detail)} (${cost})`;
}
