import { connectDocker } from '../sandbox/docker-engine.ts';
import { ensureSandboxImage } from '../sandbox/image.ts';
import { imageFingerprint } from '../sandbox/image-fingerprint.ts';
import type { SandboxFingerprint } from '../sandbox/sandbox.ts';
import type { Surroundings } from '../spec/identity.ts';
import { prepareHome } from '../temporal/embedded/home.ts';
import { type Context, note } from './context.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { promptVersions } from './prompt-facts.ts';

/** What the sandbox is; its image is made when it is absent. */
export async function sandboxFingerprint(context: Context): Promise<SandboxFingerprint> {
  const docker = connectDocker({ env: context.env });
  const log = (line: string) => note(context, line);
  const home = prepareHome(context.home);
  const { imageId } = await ensureSandboxImage({ docker, home, log });
  return imageFingerprint({ docker, imageId, home, env: context.env, log });
}

/** What the sweep's results depend on besides its spec, as it is now. */
export function surroundingsOf(prepared: PreparedSweep, fingerprint: SandboxFingerprint): Surroundings {
  return {
    datasetSha256: prepared.benchmark.sha256,
    promptVersions: promptVersions(prepared.spec.strategy),
    fingerprint,
    endpointIdentity: prepared.endpoint.identity,
  };
}
