import { type DatasetSource, openDataset } from './dataset.ts';
import type { HiddenTests } from './hidden-tests.ts';
import type { Problem } from './problem.ts';

/** Hidden tests that stand among the visible ones too, by their number from 1. Of the generated tests of EvalPlus and of HumanEval's `check` none is looked for. */
export function shownHidden(problem: Problem, hidden: HiddenTests): number[] {
  const visible = new Set(
    problem.visibleTests.map((test) => (test.kind === 'assert' ? test.source.trim() : caseText(test))),
  );
  return hiddenTexts(hidden).flatMap((text, index) => (visible.has(text) ? [index + 1] : []));
}

/**
 * Of the named tasks, those all of whose hidden tests are visible, so that a checker that runs the visible tests would do the grading, and
 * those some of whose are. Only ids come out.
 */
export async function tasksWithShownHidden(
  source: DatasetSource,
  taskIds: readonly string[],
): Promise<{ all: string[]; some: string[] }> {
  const { records } = await openDataset(source);
  const found: { all: string[]; some: string[] } = { all: [], some: [] };
  for (const taskId of taskIds) {
    const record = records.get(taskId);
    if (record === undefined) continue;
    const hidden = record.hidden();
    const shown = shownHidden(record.problem(), hidden).length;
    if (shown > 0) found[shown === hiddenTexts(hidden).length ? 'all' : 'some'].push(taskId);
  }
  return found;
}

function hiddenTexts(hidden: HiddenTests): string[] {
  if (hidden.kind === 'asserts') return hidden.asserts.map((source) => source.trim());
  return hidden.kind === 'stdio' ? hidden.cases.map(caseText) : [];
}

function caseText({ stdin, stdout }: { stdin: string; stdout: string }): string {
  return JSON.stringify([stdin, stdout]);
}
