import type { ProblemScript } from './problem-script.ts';

/** The checker sees that touching intervals stay apart; the first debug prompt mends it. Two designed tests are wrong and are filtered. */
const mergeIntervals: ProblemScript = {
  taskId: 'mini/merge-intervals',
  expected: { zeroShot: false, qualityFlow: true, finalStep: 'debug1' },
  programs: {
    unsorted: {
      right: false,
      code: `def merge_intervals(intervals):
    merged = []
    for start, end in intervals:
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged
`,
    },
  },
  generated: ['unsorted'],
  imagined: { unsorted: { 1: '[[2, 3], [1, 2]]' } },
  tests: {
    kept: [
      'assert merge_intervals([[1, 2], [4, 5]]) == [[1, 2], [4, 5]]',
      'assert merge_intervals([[4, 5], [1, 2]]) == [[1, 2], [4, 5]]',
      'assert merge_intervals([[1, 4], [4, 6]]) == [[1, 6]]',
      'assert merge_intervals([[0, 9], [1, 2], [3, 4]]) == [[0, 9]]',
      'assert merge_intervals([[2, 2]]) == [[2, 2]]',
      'assert merge_intervals([[1, 2], [2, 3], [3, 4]]) == [[1, 4]]',
    ],
    dropped: [
      'assert merge_intervals([[1, 2], [3, 4]]) == [[1, 4]]',
      'assert merge_intervals([[5, 6], [1, 7]]) == [[1, 6]]',
    ],
  },
  debugged: ['canonical'],
};

/** Standard input and output: the first program forgets how many were bought. */
const bill: ProblemScript = {
  taskId: 'mini/bill',
  expected: { zeroShot: false, qualityFlow: true, finalStep: 'debug1' },
  programs: {
    countIgnored: {
      right: false,
      code: `import sys

total = 0.0
for line in sys.stdin:
    if line.strip():
        name, price, count = line.split()
        total += float(price)
print(f'{total:.2f}')
`,
    },
  },
  generated: ['countIgnored'],
  imagined: { countIgnored: { 0: '5.75\n', 1: '0.05\n' } },
  tests: {
    kept: [
      { stdin: 'apple 1.00 3\n', stdout: '3.00\n' },
      { stdin: 'milk 0.89 1\nbread 2.10 2\n', stdout: '5.09\n' },
      { stdin: 'stamp 0.85 10\n', stdout: '8.50\n' },
      { stdin: 'gift 12.00 0\n', stdout: '0.00\n' },
    ],
    dropped: [
      { stdin: 'pear 0.50 4\n', stdout: '0.50\n' },
      { stdin: 'rope 3.20 2\n', stdout: '6.4\n' },
    ],
  },
  debugged: ['canonical'],
};

/** Epoch 1 mends the large k and breaks the empty list; epoch 2 starts from the first program again and gets both right. */
const rotateLeft: ProblemScript = {
  taskId: 'mini/rotate-left',
  expected: { zeroShot: false, qualityFlow: true, finalStep: 'debug2' },
  programs: {
    smallOnly: {
      right: false,
      code: `def rotate_left(items: list, k: int) -> list:
    return items[k:] + items[:k]
`,
    },
    emptyForgotten: {
      right: false,
      code: `def rotate_left(items: list, k: int) -> list:
    k = k % len(items)
    return items[k:] + items[:k]
`,
    },
  },
  generated: ['smallOnly'],
  imagined: { smallOnly: { 1: '[1, 2, 3]' }, emptyForgotten: { 2: 'ZeroDivisionError' } },
  tests: {
    kept: [
      'assert rotate_left([1, 2, 3, 4], 2) == [3, 4, 1, 2]',
      'assert rotate_left([1, 2, 3], 5) == [3, 1, 2]',
      'assert rotate_left([1, 2, 3], -4) == [3, 1, 2]',
      'assert rotate_left([], 3) == []',
      "assert rotate_left(['x', 'y'], 2) == ['x', 'y']",
      'assert rotate_left([9], 7) == [9]',
    ],
    dropped: ['assert rotate_left([1, 2, 3], 2) == [2, 3, 1]', 'assert rotate_left([], 1) == [None]'],
  },
  debugged: ['emptyForgotten', 'canonical'],
};

const RANGES_START = `def number_ranges(numbers):
    runs = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
`;

/** Three epochs, three different repairs; only the third treats two in a row as two numbers. */
const numberRanges: ProblemScript = {
  taskId: 'mini/number-ranges',
  expected: { zeroShot: false, qualityFlow: true, finalStep: 'debug3' },
  programs: {
    alwaysRanges: {
      right: false,
      code: `${RANGES_START}    return ','.join(f'{run[0]}-{run[-1]}' for run in runs)
`,
    },
    pairsAsRanges: {
      right: false,
      code: `${RANGES_START}    return ','.join(f'{run[0]}-{run[-1]}' if len(run) > 1 else str(run[0]) for run in runs)
`,
    },
    pairsLoseOne: {
      right: false,
      code: `${RANGES_START}    return ','.join(f'{run[0]}-{run[-1]}' if len(run) > 2 else str(run[0]) for run in runs)
`,
    },
  },
  generated: ['alwaysRanges'],
  imagined: { alwaysRanges: { 0: "'1-3,5-5'", 1: "'7-8'" }, pairsAsRanges: { 1: "'7-8'" }, pairsLoseOne: { 1: "'7'" } },
  tests: {
    kept: [
      "assert number_ranges([3]) == '3'",
      "assert number_ranges([1, 2]) == '1,2'",
      "assert number_ranges([4, 5, 6]) == '4-6'",
      "assert number_ranges([1, 3, 4, 5, 6, 9]) == '1,3-6,9'",
      "assert number_ranges([2, 4, 6]) == '2,4,6'",
    ],
    dropped: ["assert number_ranges([1, 2, 3, 4]) == '1-3,4'", "assert number_ranges([8, 9]) == '8-9'"],
  },
  debugged: ['pairsAsRanges', 'pairsLoseOne', 'canonical'],
};

export const debugged: ProblemScript[] = [mergeIntervals, bill, rotateLeft, numberRanges];
