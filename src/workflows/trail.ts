import type { Solution, Step, TrailEntry, Unusable } from '../activities/contract.ts';

/** A program and the progression it belongs to. */
export interface Candidate {
  progression: number;
  code: string;
}

/** Every program a strategy made, in order; graded only after it has ended. */
export class Trail {
  readonly #entries: TrailEntry[] = [];

  /** Adds one stage's programs with the checker's word, and returns the submission if one was accepted: the first, in progression order. */
  add(
    step: Step,
    round: number,
    candidates: readonly Candidate[],
    accepted: readonly (boolean | null)[],
  ): Solution | undefined {
    const from = this.#entries.length;
    candidates.forEach(({ progression, code }, index) => {
      this.#entries.push({ step, progression, round, code, accepted: accepted[index] ?? null });
    });
    const first = this.#entries.findIndex((entry, index) => index >= from && entry.accepted === true);
    return first === -1 ? undefined : this.#submit(first, step);
  }

  /** Submits the newest program of a progression, or the newest of the first progression that has one. */
  submitLatest(progression: number): Solution {
    const own = this.#entries.findLastIndex((entry) => entry.progression === progression);
    const index = own === -1 ? this.#entries.length - 1 : own;
    return this.#submit(index, this.#entries[index]?.step ?? 'generated');
  }

  /** Revert: the first program that progression made (algorithms 1.6 F), or the very first. */
  revert(progression: number, note?: string): Solution {
    const first = this.#entries.findIndex((entry) => entry.progression === progression);
    return this.revertTo(Math.max(0, first), note);
  }

  /** Revert to the program of this index. `note` says why it is that one. */
  revertTo(index: number, note?: string): Solution {
    return this.#submit(index, 'reverted', note);
  }

  /** Every program, in order. */
  programs(): string[] {
    return this.#entries.map(({ code }) => code);
  }

  #submit(submission: number, finalStep: Step | 'reverted', note?: string): Solution {
    const solution = { kind: 'submitted' as const, trail: this.#entries, submission, finalStep };
    return note === undefined ? solution : { ...solution, note };
  }
}

/** A strategy's end without any program: the model's doing, unless an endpoint rejected the request for one. */
export function nothingToSubmit(answers: readonly Unusable[]): Solution {
  const rejected = answers.find(({ reason }) => reason === 'rejected');
  if (rejected !== undefined) return { kind: 'unserved', detail: rejected.detail.slice(0, 500) };
  const [why] = answers;
  if (why === undefined) throw new RangeError('nothing was asked');
  const reason = why.reason === 'truncated' || why.reason === 'refused' ? why.reason : 'no_code';
  return { kind: 'nothing', reason, detail: `${why.reason}: ${why.detail}`.slice(0, 500) };
}
