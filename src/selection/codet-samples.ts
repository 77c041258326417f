import { parsePython } from '../python-syntax/parse-python.ts';

/** Where CodeT ends a completion: something new begins at the start of a line. */
const STOP_WORDS = ['\nclass', '\ndef', '\n#', '\nif', '\nprint'];

/** At most so many asserts of one sample count, so that a rambling sample does not outvote the others. */
const TESTS_PER_SAMPLE = 5;

/** A completion of CodeT's releases up to its end. */
export function cutCompletion(text: string): string {
  let end = text.length;
  for (const word of STOP_WORDS) {
    const at = text.indexOf(word);
    if (at !== -1 && at < end) end = at;
  }
  return text.slice(0, end);
}

/**
 * The asserts in samples that go on after `assert `, as CodeT takes them: pieces between one `assert ` and the next that name the entry
 * point and parse, five a sample. Distinct, in order, with how often each came.
 */
export function testsOfSamples({
  samples,
  entryPoint,
}: {
  samples: readonly string[];
  entryPoint: string;
}): Map<string, number> {
  const parses = new Map<string, boolean>();
  const counts = new Map<string, number>();
  for (const sample of samples) {
    let taken = 0;
    for (const piece of sample.split('assert ')) {
      if (taken === TESTS_PER_SAMPLE) break;
      if (!piece.includes(entryPoint)) continue;
      const test = cutCompletion(`assert ${piece}`.trim()).trim();
      const usable = parses.get(test) ?? !parsePython(test).hasErrors;
      parses.set(test, usable);
      if (!usable) continue;
      taken++;
      counts.set(test, (counts.get(test) ?? 0) + 1);
    }
  }
  return counts;
}
