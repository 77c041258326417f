import { createHash } from 'node:crypto';
import { graderSha256 } from '../grading/grader-sha256.ts';
import type { LimitsMode } from '../grading/limits.ts';
import type { Isolation, SandboxFingerprint } from '../sandbox/sandbox.ts';

/** Everything that a verdict depends on besides task and program, in 16 hex digits. */
export function graderVersion(input: {
  fingerprint: Pick<SandboxFingerprint, 'python' | 'numpy' | 'runnerSha256'>;
  datasetSha256: string;
  limits: LimitsMode;
  isolation?: Isolation | undefined;
}): string {
  const { python, numpy, runnerSha256 } = input.fingerprint;
  const parts = [graderSha256(), runnerSha256, python, numpy, input.datasetSha256, input.limits];
  if (input.isolation === 'cell') parts.push('cell');
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
