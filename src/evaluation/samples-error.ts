/** Samples that cannot be graded as they stand: what is wrong in one sentence and line by line, and what to do. */
export class SamplesError extends Error {
  readonly remedy: string;
  /** One line each, when several things are wrong. */
  readonly details: readonly string[];

  constructor(message: string, remedy: string, details: readonly string[] = []) {
    super(message);
    this.name = 'SamplesError';
    this.remedy = remedy;
    this.details = details;
  }
}
