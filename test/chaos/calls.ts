import type { Arrivals } from '../../src/models/scripted/arrival-log.ts';
import type { Books } from './result-of.ts';

/**
 * Calls that were made once too often, and why, a line each:
 * a request that arrived after its reply was stored; more arrivals of one body than its paid replies and possibly charged reservations
 * explain (an arrival that was refused with a whole answer costs nothing, and does not count).
 */
export function repeatedCalls({ bodies }: Arrivals, { replies, possiblyCharged, settled }: Books): string[] {
  return Object.entries(bodies).flatMap(([body, { arrivals, refused }]) => {
    const stored = replies.get(body);
    if (stored === undefined) return [`a request without a stored reply: ${body.slice(0, 12)}, ${arrivals.length} ×`];
    const late = arrivals
      .filter((at) => at > stored.storedAtMs)
      .map((at) => `${body.slice(0, 12)} arrived ${at - stored.storedAtMs} ms after its reply was stored`);
    const explained = stored.keys.reduce(
      (sum, key) => sum + Math.max(1, settled.get(key) ?? 0) + (possiblyCharged.get(key) ?? 0),
      0,
    );
    const excess = arrivals.length - refused.length - explained;
    return [
      ...late,
      ...Array.from(
        { length: Math.max(0, excess) },
        () => `${body.slice(0, 12)} arrived beyond ${explained} explained`,
      ),
    ];
  });
}
