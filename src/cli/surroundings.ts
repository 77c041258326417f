import type { SandboxFingerprint } from '../sandbox/sandbox.ts';
import type { Surroundings } from '../spec/identity.ts';
import type { Context } from './context.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { promptVersions } from './prompt-facts.ts';
import { withSandbox } from './with-sandbox.ts';

/** Asks the sandbox what it is, which takes a container's start: once a command. */
export function sandboxFingerprint(context: Context): Promise<SandboxFingerprint> {
  return withSandbox(context, (sandbox) => sandbox.fingerprint());
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
