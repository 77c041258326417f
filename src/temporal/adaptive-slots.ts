import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';

/** How often a waiting reservation looks again whether the limit has grown, in ms. */
const LOOK_AGAIN_MS = 100;

/**
 * Activity slots whose number is asked anew for every reservation, so that an adaptive limit works without a restart. What is not
 * admitted stays on the server and holds nothing. When the limit shrinks, running activities go on and nothing new is admitted
 * until they are fewer. A limit below 1 counts as 1: a queue that admits nothing could never learn that it may.
 */
export class AdaptiveSlots implements CustomSlotSupplier<ActivitySlotInfo> {
  readonly type = 'custom';
  readonly #limit: () => number;
  #held = 0;

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  async reserveSlot(_context: unknown, signal: AbortSignal): Promise<SlotPermit> {
    for (;;) {
      // The reason itself must be thrown: the SDK reports any other error.
      signal.throwIfAborted();
      const permit = this.tryReserveSlot();
      if (permit !== null) return permit;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, LOOK_AGAIN_MS);
        signal.addEventListener('abort', done, { once: true });
        function done(): void {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          resolve();
        }
      });
    }
  }

  tryReserveSlot(): SlotPermit | null {
    if (this.#held >= Math.max(1, Math.floor(this.#limit()))) return null;
    this.#held += 1;
    return {};
  }

  markSlotUsed(): void {}

  releaseSlot(): void {
    this.#held -= 1;
  }
}
