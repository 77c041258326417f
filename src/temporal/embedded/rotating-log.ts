import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';

/** A log of bounded size: the file, and `keep` older ones as `.1`, `.2` … */
export class RotatingLog {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #keep: number;
  #bytes: number;
  #tail = '';

  constructor({ path, maxBytes = 8 << 20, keep = 3 }: { path: string; maxBytes?: number; keep?: number }) {
    this.path = path;
    this.#maxBytes = maxBytes;
    this.#keep = keep;
    this.#bytes = existsSync(path) ? statSync(path).size : 0;
  }

  /** Never throws: a full disk must not end what is being logged. */
  write(chunk: string | Buffer): void {
    try {
      if (this.#bytes > this.#maxBytes) this.#rotate();
      appendFileSync(this.path, chunk, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(chunk);
    } catch {
      // Nowhere left to say it.
    }
    this.#tail = `${this.#tail}${chunk.toString()}`.slice(-8000);
  }

  /** What a process that has just ended said of it: its error's message if there is one, else its last line. */
  lastWords(): string {
    const lines = this.#tail.split('\n').filter((line) => line.trim() !== '');
    return (lines.findLast((line) => /^\s*(Uncaught )?\w*(Error|panic|fatal)\b.*\S/.test(line)) ?? lines.at(-1) ?? '')
      .trim()
      .slice(0, 300);
  }

  #rotate(): void {
    for (let index = this.#keep - 1; index >= 0; index -= 1) {
      const from = index === 0 ? this.path : `${this.path}.${index}`;
      if (existsSync(from)) renameSync(from, `${this.path}.${index + 1}`);
    }
    this.#bytes = 0;
  }
}
