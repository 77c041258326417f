import { Context } from '@temporalio/activity';

/** Of the heartbeat timeout: a busy event loop has room, and the server, which writes each of them down, some rest. */
const SHARE = 0.3;
/** Every proxy states a timeout (`proxies.ts`); this is the shortest. */
const SHORTEST_TIMEOUT_MS = 3000;

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
    const intervalMs = SHARE * (context.info.heartbeatTimeoutMs ?? SHORTEST_TIMEOUT_MS);
    const timer = setInterval(() => context.heartbeat(), intervalMs);
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
