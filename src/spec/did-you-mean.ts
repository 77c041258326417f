import { suggest } from '../problems/suggest.ts';

/** The end of a sentence, `; did you mean "humaneval"?`, or nothing when no candidate is near. */
export function didYouMean(typed: string, candidates: Iterable<string>): string {
  const candidate = suggest(typed.slice(0, 200), candidates);
  return candidate === undefined ? '' : `; did you mean "${candidate}"?`;
}
