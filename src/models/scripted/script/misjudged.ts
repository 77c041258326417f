import type { ProblemScript } from './problem-script.ts';

/** Floats are exact enough for the visible tests, so the checker accepts, and the hidden ones need integers beyond 2^53. */
const catalan: ProblemScript = {
  taskId: 'mini/catalan',
  expected: { zeroShot: false, qualityFlow: false, finalStep: 'generated' },
  programs: {
    floats: {
      right: false,
      code: `def catalan(n):
    value = 1.0
    for k in range(n):
        value = value * 2 * (2 * k + 1) / (k + 2)
    return int(round(value))
`,
    },
  },
  generated: ['floats'],
  tests: {
    kept: ['assert catalan(2) == 2', 'assert catalan(4) == 14', 'assert catalan(7) == 429'],
    dropped: ['assert catalan(6) == 130'],
  },
};

/** The right program of prompt 0 is rejected, and prompt 3's, which takes the first of several, is accepted: QualityFlow loses a problem. */
const mostCommon: ProblemScript = {
  taskId: 'mini/most-common',
  expected: { zeroShot: true, qualityFlow: false, finalStep: 'generated' },
  programs: {
    firstSeen: {
      right: false,
      code: `def most_common(items):
    return max(items, key=items.count)
`,
    },
  },
  generated: ['canonical', 'canonical', 'canonical', 'firstSeen'],
  imagined: { canonical: { 1: '3' } },
  tests: {
    kept: [
      'assert most_common([4, 4, 1]) == 4',
      'assert most_common([2, 9]) == 2',
      "assert most_common(['q', 'q', 'p']) == 'q'",
    ],
    dropped: ['assert most_common([8, 7, 7, 8]) == 8'],
  },
};

export const misjudged: ProblemScript[] = [catalan, mostCommon];
