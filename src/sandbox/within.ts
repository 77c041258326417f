import { SandboxError } from './sandbox.ts';

/** Settles as `promise` does, or throws `SandboxError` after `ms`: a daemon that hangs must not hang its callers. */
export async function within<T>({ ms, what }: { ms: number; what: string }, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SandboxError(`Docker did not answer within ${ms / 1000} s (${what})`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } catch (error) {
    throw error instanceof SandboxError ? error : new SandboxError(`${what}: ${messageOf(error)}`, error);
  } finally {
    clearTimeout(timer);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** HTTP status of a daemon's refusal, also when wrapped by `within`. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode;
  return 'cause' in error ? statusOf(error.cause) : undefined;
}
