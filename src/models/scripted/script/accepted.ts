import type { ProblemScript, ScriptedTests } from './problem-script.ts';

/**
 * The first program is right and is accepted at once: most problems, so that most of the work is skipped. The tests are designed only
 * where other options let these problems go on.
 */
const AT_ONCE: Readonly<Record<string, ScriptedTests['kept']>> = {
  'word-counts': [
    "assert word_counts('red blue red') == {'red': 2, 'blue': 1}",
    "assert word_counts('Go go GO') == {'go': 3}",
  ],
  'running-means': ['assert running_means([2.0, 4.0]) == [2.0, 3.0]', 'assert running_means([5.0]) == [5.0]'],
  'ring-area': ['assert ring_area(7, 7) == 0', 'assert ring_area(4.5, 4.5) == 0'],
  chunks: ['assert list(chunks([1, 2, 3, 4], 2)) == [[1, 2], [3, 4]]', "assert list(chunks(['x'], 5)) == [['x']]"],
  'pairs-with-sum': [
    'assert pairs_with_sum([1, 5, 7], 6) == {(1, 5)}',
    'assert pairs_with_sum([0, 2, 4, 6], 6) == {(0, 6), (2, 4)}',
  ],
  'is-balanced': ["assert is_balanced('[x]') == True", "assert is_balanced('(()') == False"],
  flatten: ['assert flatten([[1], [2]]) == [1, 2]', 'assert flatten([3, [4, [5]]]) == [3, 4, 5]'],
  'csv-field': ["assert csv_field('x;y') == 'x;y'", "assert csv_field('one, two') == '\"one, two\"'"],
  initials: ["assert initials('alan turing') == 'AT'", "assert initials('barbara') == 'B'"],
  'sum-lines': [
    { stdin: '4 5 6\n', stdout: '3 15\n' },
    { stdin: '7\n8\n', stdout: '2 15\n' },
  ],
  'power-digits': ['assert power_digits(2, 5) == (32, 5)', 'assert power_digits(5, 3) == (125, 8)'],
};

const acceptedAtOnce: ProblemScript[] = Object.entries(AT_ONCE).map(([name, kept]) => ({
  taskId: `mini/${name}`,
  expected: { zeroShot: true, qualityFlow: true, finalStep: 'generated' },
  generated: ['canonical'],
  tests: { kept, dropped: [] },
}));

/** Prompts 0 and 1 forget that an hour may stand alone; prompt 2 gets it right. */
const parseDuration: ProblemScript = {
  taskId: 'mini/parse-duration',
  expected: { zeroShot: false, qualityFlow: true, finalStep: 'generated' },
  programs: {
    hoursAlone: {
      right: false,
      code: `def parse_duration(text: str) -> int:
    minutes = 0
    for part in text.replace('h', 'h ').split():
        minutes = 60 * minutes + int(part.rstrip('hm'))
    return minutes
`,
    },
  },
  generated: ['hoursAlone', 'hoursAlone', 'canonical'],
  imagined: { hoursAlone: { 1: '2' } },
  tests: {
    kept: [
      "assert parse_duration('3h') == 180",
      "assert parse_duration('2h05m') == 125",
      "assert parse_duration('9m') == 9",
    ],
    dropped: ["assert parse_duration('1h1m') == 60"],
  },
};

export const accepted: ProblemScript[] = [...acceptedAtOnce, parseDuration];
