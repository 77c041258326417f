import { ProblemFileError } from './problem-file-error.ts';
import { suggest } from './suggest.ts';

/**
 * The canonical id of what a person or a samples file calls a task: the id itself in any capitals (`Mbpp/2` is `MBPP/2`), or its last
 * part alone (`2`) when only one task ends so.
 * @throws ProblemFileError with the nearest id
 */
export function canonicalTaskId(benchmark: { name: string; taskIds: readonly string[] }, text: string): string {
  const { name, taskIds } = benchmark;
  const typed = text.trim();
  if (taskIds.includes(typed)) return typed;
  const lower = typed.toLowerCase();
  for (const matches of [
    taskIds.filter((id) => id.toLowerCase() === lower),
    taskIds.filter((id) => id.toLowerCase().endsWith(`/${lower}`)),
  ]) {
    const [match] = matches;
    if (match !== undefined && matches.length === 1) return match;
  }
  const nearest = nearestTask(typed, taskIds);
  throw new ProblemFileError(
    `${name} has no task ${JSON.stringify(text)}.`,
    nearest === undefined ? `Its ids look like ${taskIds[0] ?? '(none)'}.` : `Did you mean ${JSON.stringify(nearest)}?`,
  );
}

/** By the whole id, else by the last part, which people type alone. A number is near no other: it is no misspelling. */
function nearestTask(typed: string, taskIds: readonly string[]): string | undefined {
  const whole = suggest(typed, taskIds);
  const last = lastPart(typed);
  if (whole !== undefined || /^\d*$/.test(last)) return whole;
  const near = suggest(last, taskIds.map(lastPart));
  return near === undefined ? undefined : taskIds.find((id) => lastPart(id) === near);
}

function lastPart(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}
