export type StoreErrorKind =
  | 'unavailable'
  | 'busy'
  | 'full'
  | 'corrupt'
  | 'replaced'
  | 'removed'
  | 'newer_schema'
  | 'invalid';

/** The store cannot do what it was asked: one sentence of what is wrong (`message`), one of what to do (`remedy`). */
export class StoreError extends Error {
  readonly kind: StoreErrorKind;
  readonly remedy: string;

  constructor(input: { kind: StoreErrorKind; message: string; remedy: string; cause?: unknown }) {
    super(input.message, input.cause === undefined ? undefined : { cause: input.cause });
    this.name = 'StoreError';
    this.kind = input.kind;
    this.remedy = input.remedy;
  }
}

export function noSuchSweep(name: string): StoreError {
  return new StoreError({
    kind: 'invalid',
    message: `There is no sweep named ${JSON.stringify(name)}.`,
    remedy: 'See the names with: qualityflow sweep list',
  });
}
