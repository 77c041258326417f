import type { ProblemScript } from './problem-script.ts';

/**
 * Every program of this problem is rejected, the right ones too: the model cannot follow a spiral in its head. A wrong test survives
 * the judge and sends a right program to be debugged. The flow reverts to the first program, which is right.
 */
const spiral: ProblemScript = {
  taskId: 'mini/spiral',
  expected: { zeroShot: true, qualityFlow: true, finalStep: 'reverted' },
  programs: {
    edgeOnly: {
      right: false,
      code: `def spiral(grid: list[list[int]]) -> list[int]:
    if not grid:
        return []
    right = [row[-1] for row in grid[1:-1]]
    left = [row[0] for row in grid[1:-1]]
    return grid[0] + right + grid[-1][::-1] + left[::-1]
`,
    },
    counterClockwise: {
      right: false,
      code: `def spiral(grid: list[list[int]]) -> list[int]:
    columns = [list(column) for column in zip(*grid)]
    order: list[int] = []
    while columns:
        order.extend(columns.pop(0))
        columns = [list(row) for row in zip(*columns)][::-1]
    return order
`,
    },
    rowByRow: {
      right: false,
      code: `def spiral(grid: list[list[int]]) -> list[int]:
    return [number for row in grid for number in row]
`,
    },
  },
  generated: ['canonical'],
  imagined: {
    canonical: { 1: '[1, 2, 3, 4, 5, 6, 7, 9, 8]' },
    edgeOnly: { 1: '[1, 2, 3, 4, 5, 6, 7, 8]' },
    counterClockwise: { 0: '[1, 4, 3, 2]' },
    rowByRow: { 0: '[1, 2, 4, 3]' },
  },
  tests: {
    kept: [
      'assert spiral([[1]]) == [1]',
      'assert spiral([[1, 2], [3, 4]]) == [1, 2, 4, 3]',
      'assert spiral([[5, 6, 7]]) == [5, 6, 7]',
      'assert spiral([[1, 2], [3, 4], [5, 6]]) == [1, 2, 4, 6, 3, 5]',
    ],
    dropped: ['assert spiral([[2, 1], [0, 9]]) == [2, 0, 9, 1]', 'assert spiral([]) == [0]'],
    wrongKept: ['assert spiral([[1, 2], [3, 4], [5, 6]]) == [1, 2, 4, 6, 3, 5]'],
  },
  debugged: ['edgeOnly', 'counterClockwise', 'rowByRow'],
  clarified: [
    { statement: 'Walk once around the edge of the grid, clockwise, and stop there.', program: 'edgeOnly' },
    { statement: 'Walk down the first column, and turn inwards at every corner.', program: 'counterClockwise' },
    {
      statement: 'Walk around the edge clockwise, then around what is left of the grid, until nothing is left.',
      program: 'canonical',
    },
  ],
};

/** The first repair is right, but the checker rejects it, and the flow reverts to the first program, which is wrong. */
const secondLargest: ProblemScript = {
  taskId: 'mini/second-largest',
  expected: { zeroShot: false, qualityFlow: false, finalStep: 'reverted' },
  programs: {
    duplicatesCount: {
      right: false,
      code: `def second_largest(numbers):
    return sorted(numbers)[-2]
`,
    },
    secondSmallest: {
      right: false,
      code: `def second_largest(numbers):
    values = sorted(set(numbers))
    return values[1] if len(values) >= 2 else None
`,
    },
    zeroForNone: {
      right: false,
      code: `def second_largest(numbers):
    values = sorted(set(numbers))
    return values[-2] if len(values) >= 2 else 0
`,
    },
  },
  generated: ['duplicatesCount'],
  imagined: {
    duplicatesCount: { 1: '5', 2: '7' },
    canonical: { 2: '7' },
    secondSmallest: { 2: '7' },
    zeroForNone: { 2: '0' },
  },
  tests: {
    kept: [
      'assert second_largest([1, 2, 3]) == 2',
      'assert second_largest([4, 4, 3]) == 3',
      'assert second_largest([10, 20]) == 10',
      'assert second_largest([6]) == None',
    ],
    dropped: ['assert second_largest([9, 9, 8]) == 9', 'assert second_largest([2, 2]) == 2'],
  },
  debugged: ['canonical', 'secondSmallest', 'zeroForNone'],
  clarified: [
    {
      statement: 'Ignore repeated values; when fewer than two different values are left, return 0.',
      program: 'zeroForNone',
    },
    {
      statement: 'Ignore repeated values, and return the second of the rest in ascending order.',
      program: 'secondSmallest',
    },
    { statement: 'Count repeated values, and return the last but one in ascending order.', program: 'duplicatesCount' },
  ],
};

const greedy = (order: string) => `def fewest_coins(amount: int, coins: list[int]) -> int:
    count = 0
    for coin in ${order}:
        count += amount // coin
        amount %= coin
    return count if amount == 0 else -1
`;

/** Greedy in every dress: no program of this problem is ever right. */
const fewestCoins: ProblemScript = {
  taskId: 'mini/fewest-coins',
  expected: { zeroShot: false, qualityFlow: false, finalStep: 'reverted' },
  programs: {
    greedy: { right: false, code: greedy('sorted(coins, reverse=True)') },
    asGiven: { right: false, code: greedy('coins') },
    twoOnly: {
      right: false,
      code: `def fewest_coins(amount: int, coins: list[int]) -> int:
    for coin in coins:
        if coin == amount:
            return 1
    for first in coins:
        for second in coins:
            if first + second == amount:
                return 2
    return -1
`,
    },
    largestSkipped: { right: false, code: greedy('sorted(coins, reverse=True)[1:]') },
  },
  generated: ['greedy', 'greedy', 'asGiven', 'greedy', 'asGiven', 'greedy'],
  imagined: {
    greedy: { 1: '3' },
    asGiven: { 0: '30', 1: '6' },
    twoOnly: { 0: '-1' },
    largestSkipped: { 0: '6' },
  },
  tests: {
    kept: [
      'assert fewest_coins(7, [1, 5]) == 3',
      'assert fewest_coins(8, [1, 4, 5]) == 2',
      'assert fewest_coins(0, [1]) == 0',
      'assert fewest_coins(15, [5, 10]) == 2',
      'assert fewest_coins(9, [9]) == 1',
    ],
    dropped: ['assert fewest_coins(6, [1, 3, 5]) == 3', 'assert fewest_coins(1, [2]) == 0'],
  },
  debugged: ['asGiven', 'twoOnly', 'largestSkipped'],
  clarified: [
    { statement: 'At most two coins are ever needed.', program: 'twoOnly' },
    { statement: 'Take the coins in the order given, each as often as it fits.', program: 'asGiven' },
    {
      statement: 'Leave the largest coin aside, then take the largest that fits, again and again.',
      program: 'largestSkipped',
    },
  ],
};

export const reverted: ProblemScript[] = [spiral, secondLargest, fewestCoins];
