/** Text for people and prompts, cut to `limit` characters. */
export function bounded(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 3)}...`;
}

/** Characters of a test's source in a result. */
export const TEST_CHARS = 500;
/** Characters of what a program printed in a test. */
export const PRINTED_CHARS = 500;
/** Characters of a value or an exception in a result. */
export const VALUE_CHARS = 200;
