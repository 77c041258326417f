/** Four bytes a token: near enough for English and Python, and the same on every machine. Never 0, since no real prompt is. */
export function estimateTokens(text: string): number {
  return Math.max(1, Math.ceil(Buffer.byteLength(text) / 4));
}
