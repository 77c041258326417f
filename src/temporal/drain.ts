/** How a worker ends that was asked to (SIGTERM, `down`), in ms: the promise of `docs/design/durability.md`. */

/** Requests and sandbox jobs under way may end by themselves for so long; then they are cancelled, and done again by the next worker. */
export const DRAIN_MS = 10_000;

/** So long after that the worker leaves an activity that ignores its cancellation. */
export const FORCE_AFTER_MS = 5000;

/** After this the supervisor kills a worker that has not ended. */
export const KILL_MS = DRAIN_MS + 2 * FORCE_AFTER_MS;
