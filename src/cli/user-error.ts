/** 0 done · 1 the work failed · 2 wrong usage or input · 3 infrastructure · 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

/** What a person is told instead of a stack trace: one sentence of what is wrong, one of what to do. */
export class UserError extends Error {
  readonly remedy: string;
  readonly exitCode: ExitCode;
  /** One line each, when several things are wrong at once. */
  readonly details: readonly string[];

  constructor(input: {
    message: string;
    remedy: string;
    exitCode: ExitCode;
    details?: readonly string[];
    cause?: unknown;
  }) {
    super(input.message, input.cause === undefined ? undefined : { cause: input.cause });
    this.name = 'UserError';
    this.remedy = input.remedy;
    this.exitCode = input.exitCode;
    this.details = input.details ?? [];
  }
}
