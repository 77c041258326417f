import { SandboxError } from './sandbox.ts';

/**
 * Cuts a byte stream into length-prefixed frames, however the chunks fall. `sizeOf` reads the length of a frame's body from its header, and may throw.
 * Frames are views of the received chunks where possible.
 */
export class FrameReader {
  readonly #headerBytes: number;
  readonly #sizeOf: (header: Buffer) => number;
  readonly #onFrame: (header: Buffer, body: Buffer) => void;
  #chunks: Buffer[] = [];
  #length = 0;
  #wanted: number;

  constructor(options: {
    headerBytes: number;
    sizeOf: (header: Buffer) => number;
    onFrame: (header: Buffer, body: Buffer) => void;
  }) {
    this.#headerBytes = options.headerBytes;
    this.#sizeOf = options.sizeOf;
    this.#onFrame = options.onFrame;
    this.#wanted = options.headerBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return;
    let data = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#length);
    for (;;) {
      this.#wanted = this.#headerBytes;
      if (data.length < this.#wanted) break;
      const header = data.subarray(0, this.#headerBytes);
      this.#wanted += this.#sizeOf(header);
      if (data.length < this.#wanted) break;
      this.#onFrame(header, data.subarray(this.#headerBytes, this.#wanted));
      data = data.subarray(this.#wanted);
    }
    this.#chunks = data.length === 0 ? [] : [data];
    this.#length = data.length;
  }
}

/** No frame holds more than the largest output of a judge or of a program, 256 MB each. */
const MAX_FRAME_BYTES = 512 << 20;

function sizeAt(header: Buffer, offset: number): number {
  const size = header.readUInt32BE(offset);
  if (size > MAX_FRAME_BYTES) throw new SandboxError(`a frame of ${size} bytes is none of the runner's`);
  return size;
}

/** Docker's multiplexed attach stream: stream number (1 stdout, 2 stderr), three zero bytes, length. */
export function dockerStreamReader(onOutput: (stream: 'stdout' | 'stderr', data: Buffer) => void): FrameReader {
  return new FrameReader({
    headerBytes: 8,
    sizeOf: (header) => sizeAt(header, 4),
    onFrame: (header, body) => onOutput(header[0] === 2 ? 'stderr' : 'stdout', body),
  });
}

/** The runner's frames: length, then one tag character and the body (`runner/runner.py` lists them). */
export function runnerReader(onFrame: (frame: RunnerFrame) => void): FrameReader {
  return new FrameReader({
    headerBytes: 4,
    sizeOf: (header) => sizeAt(header, 0),
    onFrame: (_, body) => onFrame({ tag: String.fromCharCode(body[0] ?? 0), body: body.subarray(1) }),
  });
}

export interface RunnerFrame {
  tag: string;
  body: Buffer;
}

/** What the runner accepts; it ends when it is sent more. */
const MAX_REQUEST_BYTES = 1 << 30;

/** A request, as JSON, and its payload, each behind its length. The payload is read by the job's own processes only. */
export function requestFrame(request: object, payload: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat(
    [Buffer.from(JSON.stringify(request)), payload].flatMap((part) => {
      if (part.length > MAX_REQUEST_BYTES)
        throw new SandboxError(`a job of ${part.length} bytes is too large for the sandbox: split its calls`);
      const size = Buffer.alloc(4);
      size.writeUInt32BE(part.length);
      return [size, part];
    }),
  );
}
