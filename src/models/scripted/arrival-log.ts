import type { ServerResponse } from 'node:http';
import { type Fault, isCompletion } from './faults.ts';

/** What became of one request body; times in ms since 1970. */
export interface BodyLog {
  /** One time an arrival. */
  arrivals: number[];
  /** When a whole completion had been handed over: billable, and the client may or may not have it. */
  completed: number[];
  /** When an answer that is no completion had been handed over whole: nobody bills it. */
  refused: number[];
  /** Kind of each fault that was played, in order. */
  faults: string[];
}

export interface ArrivalSums {
  total: number;
  /** Arrived and not yet ended. */
  open: number;
  /** Whole completions that were handed over. */
  completed: number;
}

export interface Arrivals extends ArrivalSums {
  /** By sha256 of the body. */
  counts: Record<string, number>;
  bodies: Record<string, BodyLog>;
}

/** Every completion that was asked for, by the request's body. */
export class ArrivalLog {
  readonly #bodies = new Map<string, BodyLog>();
  #total = 0;
  #open = 0;
  #completed = 0;

  /** Notes an arrival and returns its number for this body, from 1. */
  arrive(key: string, response: ServerResponse): number {
    const log = this.#bodies.get(key) ?? { arrivals: [], completed: [], refused: [], faults: [] };
    this.#bodies.set(key, log);
    this.#total += 1;
    this.#open += 1;
    response.once('close', () => {
      this.#open -= 1;
    });
    return log.arrivals.push(Date.now());
  }

  /** To be called before the answer begins. */
  answering(key: string, response: ServerResponse, fault: Fault | undefined): void {
    const log = this.#bodies.get(key);
    if (log === undefined) return;
    if (fault !== undefined) log.faults.push(fault.kind);
    const whole = fault === undefined || fault.kind === 'slow' || isCompletion(fault.kind);
    response.once('finish', () => {
      if (whole) this.#completed += 1;
      (whole ? log.completed : log.refused).push(Date.now());
    });
  }

  sums(): ArrivalSums {
    return { total: this.#total, open: this.#open, completed: this.#completed };
  }

  snapshot(): Arrivals {
    return {
      ...this.sums(),
      counts: Object.fromEntries([...this.#bodies].map(([key, { arrivals }]) => [key, arrivals.length])),
      bodies: structuredClone(Object.fromEntries(this.#bodies)),
    };
  }
}
