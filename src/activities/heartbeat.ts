import { Context } from '@temporalio/activity';

/** Well below the shortest heartbeat timeout (3 s), so that a busy event loop has room. */
const INTERVAL_MS = 800;

/**
 * Heartbeats for as long as `work` runs. Every activity needs them: without, a killed worker is noticed only at its start-to-close
 * timeout, and a cancellation never arrives.
 */
export function withHeartbeat<Args extends unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const context = Context.current();
    if (context.info.isLocal) return work(...args);
    // None at once: the server's clock starts with the activity, and most activities end before they would have to say anything.
    const timer = setInterval(() => context.heartbeat(), INTERVAL_MS);
    try {
      return await work(...args);
    } catch (error) {
      // An aborted request or job is a cancellation, whatever error its library made of it.
      if (context.cancellationSignal.aborted) throw context.cancellationSignal.reason;
      throw error;
    } finally {
      clearInterval(timer);
    }
  };
}
