import { renderSweepList } from '../reports/render-lists.ts';
import { counted } from '../reports/terminal.ts';
import { type Context, note, print, printJson, renderOptions } from './context.ts';
import { hasStore, withStore } from './open-state.ts';
import { finishedOf } from './progress.ts';
import { SOLVE_PREFIX } from './spec-input.ts';
import type { ExitCode } from './user-error.ts';

/** `sweep list`: newest last; a folder without any is no error. People see those of `solve` only with `all`; the JSON has every one. */
export async function listSweepsCommand({
  context,
  all,
  json,
}: {
  context: Context;
  all?: boolean;
  json?: boolean;
}): Promise<ExitCode> {
  const rows = hasStore(context)
    ? await withStore(context, async (store) => {
        const sweeps = await store.listSweeps();
        return Promise.all(sweeps.map(async (sweep) => ({ sweep, outcomes: await store.countOutcomes(sweep.name) })));
      })
    : [];
  if (json === true) {
    printJson(
      context,
      rows.map(({ sweep: { tasks: _tasks, spec, ...row }, outcomes }) => ({
        ...row,
        benchmark: spec.benchmark,
        strategy: spec.strategy.kind,
        model: spec.model.name,
        outcomes,
        unfinished: row.planned - finishedOf(outcomes),
      })),
    );
  } else if (rows.length === 0) {
    print(context, 'No sweep in this folder yet. `qualityflow demo` runs two.');
  } else {
    const shown = all === true ? rows : rows.filter(({ sweep }) => !sweep.name.startsWith(SOLVE_PREFIX));
    if (shown.length > 0) print(context, renderSweepList(shown, renderOptions(context)));
    const hidden = rows.length - shown.length;
    if (hidden > 0) note(context, `${counted(hidden, 'sweep')} of \`solve\` not shown: --all`);
  }
  return 0;
}
