import { ApplicationFailure, condition, defineSignal, setHandler } from '@temporalio/workflow';
import type { Held } from '../activities/contract.ts';
import { summary } from '../temporal/summary.ts';

/** "Look again now": sent to running problems when what held them is over. Losing it costs time, nothing else. */
const releaseSignal = defineSignal('release');

const SECOND_MS = 1000;
/**
 * How long a problem waits before it looks again by itself: 5 s, doubling to 5 min, and later a twentieth of the time that it has been
 * held, so that even a pause of weeks costs some hundred looks of 11 events.
 */
const FIRST_WAIT_MS = 5 * SECOND_MS;
const LONGEST_WAIT_MS = 300 * SECOND_MS;
const SHARE_OF_TIME_HELD = 1 / 20;

/**
 * The door before a problem's activities. When one comes back `held`, it waits for the signal `release` or a timer, and calls again; the
 * problem's other calls wait behind it instead of knocking too, whatever their number. Durable: nothing of it is outside the history.
 */
export class Holds {
  readonly #maxWaitMs: number;
  readonly #show: (held: Held | undefined) => void;
  #releases = 0;
  /** Time that the endpoint has asked for so far. */
  #pacedMs = 0;
  /** Resolves when the call that waits at the door has got through or given up. */
  #closed: Promise<void> | undefined;
  #givenUp: ApplicationFailure | undefined;

  /** `maxWaitMs` bounds the waits that the endpoint asks for, in all; `show` is told why the problem is held, again and again, and undefined afterwards. */
  constructor({ maxWaitMs, show }: { maxWaitMs: number; show: (held: Held | undefined) => void }) {
    this.#maxWaitMs = maxWaitMs;
    this.#show = show;
    setHandler(releaseSignal, () => {
      this.#releases += 1;
    });
  }

  /** Calls until the answer is not `held`. Fails as infrastructure when the endpoint asks for more waiting than the spec allows. */
  async through<Answer extends object>(call: () => Promise<Answer | Held>): Promise<Answer> {
    for (;;) {
      while (this.#closed !== undefined) await this.#closed;
      if (this.#givenUp !== undefined) throw this.#givenUp;
      const releases = this.#releases;
      let answer: Answer | Held | undefined = await call();
      if (isHeld(answer) && this.#closed === undefined) answer = await this.#knock(call, answer, releases);
      if (answer !== undefined && !isHeld(answer)) return answer;
    }
  }

  /** Closes the door, waits and calls until it gets through; undefined when a release has opened it for everybody. */
  async #knock<Answer extends object>(
    call: () => Promise<Answer | Held>,
    first: Held,
    releasesBefore: number,
  ): Promise<Answer | undefined> {
    const { promise, resolve: open } = Promise.withResolvers<void>();
    this.#closed = promise;
    try {
      let held = first;
      let releases = releasesBefore;
      const since = Date.now();
      const longest = () => Math.max(LONGEST_WAIT_MS, (Date.now() - since) * SHARE_OF_TIME_HELD);
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, longest())) {
        this.#show(held);
        if (await this.#wait(held, waitMs, releases)) return undefined;
        releases = this.#releases;
        const answer = await call();
        if (!isHeld(answer)) return answer;
        held = answer;
      }
    } finally {
      this.#closed = undefined;
      this.#show(undefined);
      open();
    }
  }

  /** True when a release ended the wait; one that came while the activity was looking counts. */
  async #wait(held: Held, growingMs: number, releasesBefore: number): Promise<boolean> {
    const paced = held.reason === 'paced';
    const waitMs = paced ? Math.max(SECOND_MS, askedMs(held)) : growingMs;
    if (paced && this.#pacedMs + waitMs > this.#maxWaitMs) {
      this.#givenUp = waitsTooLong(held, this.#maxWaitMs);
      throw this.#givenUp;
    }
    const since = Date.now();
    const released = await condition(() => this.#releases !== releasesBefore, waitMs, {
      summary: summary(whyHeld(held)),
    });
    if (paced) this.#pacedMs += Date.now() - since;
    return released;
  }
}

/** Activities of an earlier build gave the time alone. */
function askedMs({ waitMs, until }: Held): number {
  return waitMs ?? (Date.parse(until ?? '') - Date.now() || 0);
}

function whyHeld({ reason, detail, until }: Held): string {
  switch (reason) {
    case 'paused':
      return 'paused by a person';
    case 'blocked':
      return `blocked: ${detail}`;
    case 'budget':
      return 'waiting for budget';
    case 'paced':
      return `paced until ${until} by Retry-After`;
  }
}

function waitsTooLong({ until }: Held, maxWaitMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'WaitsTooLong',
    message: `the endpoint asks to wait until ${until}, which is more than the ${Math.round(maxWaitMs / SECOND_MS)} s in all that the sweep allows (maxWait)`,
    nonRetryable: true,
  });
}

function isHeld(answer: object): answer is Held {
  return 'kind' in answer && answer.kind === 'held';
}
