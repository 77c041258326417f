/** A dataset, or a choice from one, that cannot be used: one sentence of what is wrong, one of what to do. */
export class ProblemFileError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ProblemFileError';
    this.remedy = remedy;
  }
}
