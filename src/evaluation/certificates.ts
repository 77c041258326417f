import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const certificate = z.object({
  benchmark: z.string(),
  datasetSha256: z.string(),
  imageId: z.string(),
  python: z.string(),
  numpy: z.string(),
  canonical: z.number(),
  mutants: z.number(),
  exceptions: z.number(),
  certifiedAt: z.string(),
});
export type Certificate = z.infer<typeof certificate>;

/** What was certified here, by grader version (`graderVersion`): another image, dataset or grader is another version. */
export function readCertificates({ home }: { home: string }): Map<string, Certificate> {
  try {
    const text = readFileSync(fileOf(home), 'utf8');
    return new Map(Object.entries(z.record(z.string(), certificate).parse(JSON.parse(text))));
  } catch {
    // None yet, or a file that says nothing: certifying again is cheap.
    return new Map();
  }
}

export function keepCertificate({ home, version, ...found }: { home: string; version: string } & Certificate): void {
  const all = readCertificates({ home }).set(version, found);
  mkdirSync(home, { recursive: true });
  const temporary = `${fileOf(home)}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify(Object.fromEntries(all), null, 2), { mode: 0o600 });
  renameSync(temporary, fileOf(home));
}

function fileOf(home: string): string {
  return join(home, 'certificates.json');
}
