/**
 * Runs `work` for every item at once and waits for **all** of them, whatever happens: within a stage every started request runs to
 * its end, so which requests are sent never depends on timing. Results keep the items' order; the first failure in that order is thrown.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const settled = await Promise.allSettled(items.map(work));
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** `[0, 1, …, count - 1]` */
export function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
