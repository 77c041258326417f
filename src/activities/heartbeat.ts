import { Context } from '@temporalio/activity';

/**
 * Well below the shortest heartbeat timeout (3 s), so that a busy event loop has room. The first one is sent after it, too: most of the
 * store's activities end before, and a heartbeat each would be a third of what the server is asked for them.
 */
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
