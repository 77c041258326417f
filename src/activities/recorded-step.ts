import type { Store } from '../store/store.ts';
import type { StepContext } from './contract.ts';

/** Does the work of a step of a problem and notes its row, with how long it took by a clock that nobody sets. */
export async function recordedStep<Answer>(
  store: Store,
  { context, activity }: { context: StepContext; activity: string },
  work: () => Promise<{ row: unknown; answer: Answer }>,
): Promise<Answer> {
  const startedAt = new Date().toISOString();
  const began = performance.now();
  const { row, answer } = await work();
  await store.recordStep({
    run: context.run,
    step: context.step,
    activity,
    reused: false,
    result: JSON.stringify(row),
    startedAt,
    durationMs: Math.round(performance.now() - began),
  });
  return answer;
}
