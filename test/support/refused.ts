import assert from 'node:assert/strict';
import type { Finished } from './cli.ts';

/** The command failed with this code and said, as its last words, one sentence of what is wrong and one of what to do; nothing of our insides. */
export function assertRefused(
  { code, stderr }: Finished,
  wanted: { code: number; wrong: RegExp; remedy: RegExp },
): void {
  const [wrong = '', remedy = ''] = stderr.trimEnd().split('\n').slice(-2);
  assert.equal(code, wanted.code, stderr);
  assert.match(wrong, /^error: .*\S[.?!]$/, stderr);
  assert.match(wrong, wanted.wrong);
  assert.match(remedy, /^[A-Z].*[.?!]$/, stderr);
  assert.match(remedy, wanted.remedy);
  assert.doesNotMatch(stderr, /Unexpected failure|\n\s+at |node:internal/);
}
