/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed for one of many pools (FNV-1a of its name): what is drawn for one says nothing about another. */
export function seedFor(pool: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < pool.length; at++) hash = Math.imul(hash ^ pool.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** 0 … length − 1 in an order that depends on `random` alone. */
export function shuffledIndexes(length: number, random: () => number): number[] {
  const order = Array.from({ length }, (_, at) => at);
  for (let at = length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  return order;
}
