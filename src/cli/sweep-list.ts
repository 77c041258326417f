import { renderSweepList } from '../reports/render-lists.ts';
import { type Context, print, printJson, renderOptions } from './context.ts';
import { hasStore, withStore } from './open-state.ts';
import { finishedOf } from './progress.ts';
import type { ExitCode } from './user-error.ts';

/** `sweep list`: newest last; a folder without any is no error. */
export async function listSweepsCommand({ context, json }: { context: Context; json?: boolean }): Promise<ExitCode> {
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
    print(context, renderSweepList(rows, renderOptions(context)));
  }
  return 0;
}
