import { readCertificates } from '../evaluation/certificates.ts';
import { graderVersion } from '../evaluation/grader-version.ts';
import { usualLimits } from '../grading/limits.ts';
import { isBenchmarkName } from '../problems/dataset.ts';
import type { Surroundings } from '../spec/identity.ts';
import { type Context, note } from './context.ts';

/** Says so when nobody has tried the benchmark's own solutions in this environment. The bundled and people's own problems are left alone. */
export function warnUncertified(context: Context, surroundings: Surroundings, benchmark: string): void {
  if (!isBenchmarkName(benchmark) || benchmark === 'mini') return;
  const { fingerprint, datasetSha256 } = surroundings;
  const limits = usualLimits({ kind: benchmark.endsWith('+') ? 'evalplus' : 'asserts' });
  if (readCertificates({ home: context.home }).has(graderVersion({ fingerprint, datasetSha256, limits }))) return;
  note(
    context,
    `Warning: nobody has tried whether the solutions of ${benchmark} pass in this environment: \`qualityflow doctor --certify ${benchmark}\` does.`,
  );
}
