/** The environment is not able to do the work: `message` says in one sentence what is wrong, `remedy` in one what to do. */
export class InfrastructureError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'InfrastructureError';
    this.remedy = remedy;
  }
}
