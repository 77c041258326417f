import { distance } from 'fastest-levenshtein';

/**
 * The candidate nearest to a mistyped name, or undefined when none is near: at most a third of its letters (and at least two
 * edits) may differ, capitals aside.
 */
export function suggest(text: string, candidates: Iterable<string>): string | undefined {
  const typed = text.toLowerCase();
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const edits = distance(typed, candidate.toLowerCase());
    if (edits < least) {
      least = edits;
      nearest = candidate;
    }
  }
  return least <= Math.max(2, Math.floor(text.length / 3)) ? nearest : undefined;
}

/** `Did you mean "x"?`, or the fallback. */
export function didYouMean(text: string, candidates: Iterable<string>, otherwise: string): string {
  const nearest = suggest(text, candidates);
  return nearest === undefined ? otherwise : `Did you mean ${JSON.stringify(nearest)}?`;
}
