import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatasetFile } from './dataset-files.ts';
import { uncompress } from './dataset-text.ts';
import { ProblemFileError } from './problem-file-error.ts';

/** Longest wait for a whole file; the largest is under 1 MB. */
const TIMEOUT_MS = 120_000;

const REMEDY = 'Connect to the network and try again, or give a folder that holds the datasets with --data-dir.';

/**
 * Fetches a dataset into `<home>/data/` and returns its path. The content is compared with the pinned sha256 before the file gets its
 * name, so that a half download never counts as one. The file is kept as the publisher sent it, plain or gzip.
 * @throws ProblemFileError that says what failed and how to do without
 */
export async function downloadDataset({ file, home }: { file: DatasetFile; home: string }): Promise<string> {
  const bytes = await fetchBytes(file.url);
  const sha256 = createHash('sha256').update(uncompress(bytes, file.url)).digest('hex');
  if (sha256 !== file.sha256) {
    throw new ProblemFileError(
      `${file.url} holds other data than expected (sha256 ${sha256}, not ${file.sha256}).`,
      REMEDY,
    );
  }
  const path = join(home, 'data', bytes[0] === 0x1f && bytes[1] === 0x8b ? `${file.path}.gz` : file.path);
  const unfinished = `${path}.${randomUUID()}.part`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(unfinished, bytes);
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
  return path;
}

async function fetchBytes(url: string): Promise<Buffer> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.ok) return Buffer.from(await response.arrayBuffer());
  } catch (cause) {
    throw new ProblemFileError(`Cannot download ${url} (${reason(cause)}).`, REMEDY, cause);
  }
  throw new ProblemFileError(`Cannot download ${url} (HTTP ${response.status}).`, REMEDY);
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
