import type { Store } from '../store/store.ts';
import type { Held, RunKey, StepContext } from './contract.ts';

interface Deps {
  store: Pick<Store, 'getPlan'>;
}

/**
 * Whether a sweep's work must not start now: one small read of its row, before every request and every sandbox job. So a pause or a
 * block reaches every worker within the time of what is in flight, and outlives them all.
 */
export async function holdOf({ store }: Deps, sweep: string): Promise<Held | undefined> {
  const plan = await store.getPlan(sweep);
  switch (plan?.state) {
    case 'paused':
      return { kind: 'held', reason: 'paused', detail: 'paused by a person' };
    case 'blocked':
      return { kind: 'held', reason: 'blocked', detail: plan.stateReason };
    default:
      return undefined;
  }
}

/** The same activity, which asks first; held, it does nothing and says so. */
export function unlessHeld<Input extends { context: StepContext } | { run: RunKey }, Result>(
  deps: Deps,
  work: (input: Input) => Promise<Result>,
): (input: Input) => Promise<Result | Held> {
  return async (input) => {
    const { sweep } = 'context' in input ? input.context.run : input.run;
    return (await holdOf(deps, sweep)) ?? work(input);
  };
}
