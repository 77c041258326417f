/**
 * SHA-256 (FIPS 180-4) of a text's UTF-8 bytes as 64 hex digits, in plain arithmetic: workflow code has neither `node:crypto` nor
 * Web Crypto, and an id must come out the same inside a workflow and outside.
 */
export function sha256Hex(text: string): string {
  const message = padded(new TextEncoder().encode(text));
  const state = [...INITIAL];
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < message.byteLength; offset += 64) compress(state, message, offset, schedule);
  return state.map((word) => word.toString(16).padStart(8, '0')).join('');
}

/** The fractional parts of the square roots of the first eight primes, and of the cube roots of the first 64 (§5.3.3, §4.2.2). */
const PRIMES = firstPrimes(64);
const INITIAL = PRIMES.slice(0, 8).map((prime) => fraction32(Math.sqrt(prime)));
const ROUND = PRIMES.map((prime) => fraction32(Math.cbrt(prime)));

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
}

/** A double holds 53 bits: at most 5 before the point and 32 after it leave room to spare. */
function fraction32(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32) >>> 0;
}

function padded(bytes: Uint8Array): DataView {
  const out = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  out.set(bytes);
  out[bytes.length] = 0x80;
  const view = new DataView(out.buffer);
  view.setBigUint64(out.length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function compress(state: number[], message: DataView, offset: number, w: Uint32Array): void {
  const at = (index: number) => w[index] ?? 0;
  for (let i = 0; i < 16; i += 1) w[i] = message.getUint32(offset + 4 * i);
  for (let i = 16; i < 64; i += 1) {
    const s0 = rotate(at(i - 15), 7) ^ rotate(at(i - 15), 18) ^ (at(i - 15) >>> 3);
    const s1 = rotate(at(i - 2), 17) ^ rotate(at(i - 2), 19) ^ (at(i - 2) >>> 10);
    w[i] = at(i - 16) + s0 + at(i - 7) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = h + s1 + ((e & f) ^ (~e & g)) + (ROUND[i] ?? 0) + at(i);
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) >>> 0, c, b, a, (t1 + t2) >>> 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = ((state[i] ?? 0) + word) >>> 0;
  });
}
