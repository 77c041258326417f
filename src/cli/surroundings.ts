import type { Surroundings } from '../spec/identity.ts';
import type { Context } from './context.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { promptVersions } from './prompt-facts.ts';
import { withSandbox } from './with-sandbox.ts';

/** What the sweep's results depend on besides its spec, as it is now; asks the sandbox for its fingerprint. */
export async function surroundingsOf({
  context,
  prepared,
}: {
  context: Context;
  prepared: PreparedSweep;
}): Promise<Surroundings> {
  const { python, numpy, runnerSha256 } = await withSandbox(context, (sandbox) => sandbox.fingerprint());
  return {
    datasetSha256: prepared.benchmark.sha256,
    promptVersions: promptVersions(prepared.spec.strategy),
    fingerprint: { python, numpy, runnerSha256 },
    endpointIdentity: prepared.endpoint.identity,
  };
}
