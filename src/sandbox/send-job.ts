import type { RunnerFrame } from './frames.ts';
import { SandboxError } from './sandbox.ts';
import type { RunnerJob, Slot } from './slot.ts';
import { messageOf } from './within.ts';

/** A job on a slot; one that answers what `onFrame` cannot read is given up at once. */
export async function sendJob(
  slot: Slot,
  job: RunnerJob,
  onFrame: (frame: RunnerFrame) => void,
): Promise<{ recycled: boolean }> {
  let failure: SandboxError | undefined;
  try {
    const end = await slot.run(job, (frame) => {
      try {
        onFrame(frame);
      } catch (error) {
        failure ??= new SandboxError(`the runner's answer could not be read: ${messageOf(error)}`, error);
        slot.close().catch(() => undefined);
      }
    });
    if (failure !== undefined) throw failure;
    return end;
  } catch (error) {
    throw failure ?? error;
  }
}
