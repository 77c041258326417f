import type Docker from 'dockerode';
import { z } from 'zod';
import { SandboxError } from './sandbox.ts';
import { within } from './within.ts';

const engine = z.object({ Runtimes: z.record(z.string(), z.unknown()).nullish() });

/**
 * The engine's runtime for containers that the variable names, such as gVisor's `runsc`; undefined, the engine's own choice, without it.
 * @throws SandboxError when the engine has none of this name
 */
export async function chosenRuntime({
  docker,
  env,
}: {
  docker: Docker;
  env: Record<string, string | undefined>;
}): Promise<string | undefined> {
  const wanted = env.QUALITYFLOW_SANDBOX_RUNTIME;
  if (wanted === undefined || wanted === '') return undefined;
  const info: unknown = await within({ ms: 10_000, what: 'engine information' }, docker.info());
  const names = Object.keys(engine.parse(info).Runtimes ?? {});
  if (names.includes(wanted)) return wanted;
  throw new SandboxError(
    `the Docker engine has no runtime ${JSON.stringify(wanted)} (it has ${names.join(', ') || 'none to choose from'}): register it in the engine's daemon.json, or unset QUALITYFLOW_SANDBOX_RUNTIME`,
  );
}
