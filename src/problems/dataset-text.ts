import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { ProblemFileError } from './problem-file-error.ts';

/** Uncompressed bytes of a dataset. Larger ones are refused: the text must fit one JavaScript string, and a gzip bomb must not fill memory. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface DatasetText {
  text: string;
  /** Of the uncompressed bytes, as hex. */
  sha256: string;
}

/** Reads a dataset file, plain or gzip (told by its content, not its name). */
export async function readDatasetText(path: string): Promise<DatasetText> {
  return decodeDataset(await readDatasetFile(path), path);
}

/** The bytes of the file as they stand on disk. */
async function readDatasetFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new ProblemFileError(`Cannot read ${path} (${code}).`, 'Check the path and its permissions.', cause);
  }
}

/** `name` is only used in messages. */
export function decodeDataset(bytes: Buffer, name: string): DatasetText {
  const content = uncompress(bytes, name);
  const sha256 = createHash('sha256').update(content).digest('hex');
  if (
    startsWith(content, 0xff, 0xfe) ||
    startsWith(content, 0xfe, 0xff) ||
    (content.length > 1 && (content[0] === 0 || content[1] === 0))
  ) {
    throw new ProblemFileError(`${name} is UTF-16.`, 'Save it as UTF-8.');
  }
  // TextDecoder drops a UTF-8 byte order mark by itself.
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(content), sha256 };
  } catch (cause) {
    throw new ProblemFileError(
      `${name}:${lineOfInvalidUtf8(content)}: the text is not UTF-8.`,
      'Save the file as UTF-8.',
      cause,
    );
  }
}

/** Plain content of plain or gzip bytes; all members of a multi-member gzip file. */
export function uncompress(bytes: Buffer, name: string): Buffer {
  if (!startsWith(bytes, 0x1f, 0x8b)) {
    if (bytes.length > MAX_BYTES) throw tooLarge(name);
    return bytes;
  }
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : '';
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(name);
    const what =
      code === 'Z_BUF_ERROR' ? 'is cut off: the gzip data does not end' : 'is damaged: the gzip data cannot be read';
    throw new ProblemFileError(`${name} ${what}.`, 'Fetch the file again.', cause);
  }
}

function tooLarge(name: string): ProblemFileError {
  return new ProblemFileError(`${name} holds more than ${MAX_BYTES / 1024 / 1024} MB.`, 'Split it into several files.');
}

function startsWith(bytes: Buffer, first: number, second: number): boolean {
  return bytes[0] === first && bytes[1] === second;
}

function lineOfInvalidUtf8(content: Buffer): number {
  let line = 1;
  let start = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (;;) {
    const end = content.indexOf(0x0a, start);
    try {
      decoder.decode(content.subarray(start, end === -1 ? undefined : end));
    } catch {
      return line;
    }
    if (end === -1) return line;
    start = end + 1;
    line++;
  }
}
