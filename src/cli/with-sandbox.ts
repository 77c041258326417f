import { connectDocker } from '../sandbox/docker-engine.ts';
import { createDockerSandbox } from '../sandbox/docker-sandbox.ts';
import { ensureSandboxImage } from '../sandbox/image.ts';
import { chosenRuntime } from '../sandbox/runtime.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { prepareHome } from '../temporal/embedded/home.ts';
import { type Context, note } from './context.ts';

/**
 * A sandbox of this process for the time of `work`; its image is made when it is absent. Without `slots`, programs run on all cores.
 * `memoryBytes`: what programs will be allowed, so that the containers are there when the first comes.
 */
export async function withSandbox<T>(
  context: Context,
  work: (sandbox: Sandbox) => Promise<T>,
  { slots, memoryBytes }: { slots?: number; memoryBytes?: number } = {},
): Promise<T> {
  const docker = connectDocker({ env: context.env });
  const log = (line: string) => note(context, line);
  const runtime = await chosenRuntime({ docker, env: context.env });
  const { imageId } = await ensureSandboxImage({ docker, home: prepareHome(context.home), log });
  const sandbox = await createDockerSandbox({ docker, imageId, runtime, slots, memoryBytes, log });
  try {
    return await work(sandbox);
  } finally {
    await sandbox.close();
  }
}
