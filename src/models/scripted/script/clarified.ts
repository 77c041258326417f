import type { ProblemScript } from './problem-script.ts';

/** "The middle value" of an even number of numbers: the judge trusts no designed test, so nothing is debugged, and one clarification helps. */
const middleValue: ProblemScript = {
  taskId: 'mini/middle-value',
  expected: { zeroShot: false, qualityFlow: true, finalStep: 'clarified' },
  programs: {
    mean: {
      right: false,
      code: `def middle_value(numbers):
    ordered = sorted(numbers)
    half = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2
`,
    },
  },
  generated: ['mean'],
  imagined: { mean: { 1: '2.5' } },
  tests: {
    kept: [],
    dropped: [
      'assert middle_value([1, 2]) == 1.5',
      'assert middle_value([1, 2, 3, 4]) == 2.5',
      'assert middle_value([10, 30, 20, 40]) == 25.0',
      'assert middle_value([0, 1]) == 1',
      'assert middle_value([2, 9, 4]) == 4',
    ],
    rightDropped: ['assert middle_value([2, 9, 4]) == 4'],
  },
  clarified: [
    {
      statement:
        'Sort the numbers. With an odd count return the one in the middle; with an even count return the smaller of the two in the middle, never their mean.',
      program: 'canonical',
    },
  ],
};

const HEADLINE_SMALL = (set: string) => `def headline(text: str) -> str:
    small = ${set}
    words = text.split()
    return ' '.join(word if index > 0 and word in small else word.capitalize() for index, word in enumerate(words))
`;

/** Which words are small? Lists of them never do; the second clarification finds the rule by length. */
const headline: ProblemScript = {
  taskId: 'mini/headline',
  expected: { zeroShot: false, qualityFlow: true, finalStep: 'clarified' },
  programs: {
    everyWord: {
      right: false,
      code: `def headline(text: str) -> str:
    return ' '.join(word.capitalize() for word in text.split())
`,
    },
    articles: { right: false, code: HEADLINE_SMALL("{'a', 'an', 'the'}") },
    conjunctions: { right: false, code: HEADLINE_SMALL("{'and', 'or', 'but'}") },
    prepositions: { right: false, code: HEADLINE_SMALL("{'of', 'in', 'at', 'to'}") },
    twoLetters: {
      right: false,
      code: `def headline(text: str) -> str:
    words = text.split()
    return ' '.join(word if index > 0 and len(word) <= 2 else word.capitalize() for index, word in enumerate(words))
`,
    },
  },
  generated: ['everyWord'],
  imagined: {
    everyWord: { 0: "'The Lord Of The Rings'", 1: "'War And Peace'" },
    articles: { 0: "'The Lord Of the Rings'", 1: "'War And Peace'" },
    conjunctions: { 0: "'The Lord Of The Rings'" },
    prepositions: { 0: "'The Lord of The Rings'", 1: "'War And Peace'" },
    twoLetters: { 0: "'The Lord of The Rings'", 1: "'War And Peace'" },
  },
  tests: {
    kept: [
      "assert headline('') == ''",
      "assert headline('hello world') == 'Hello World'",
      "assert headline('the end of the day') == 'The end of the day'",
      "assert headline('pride and joy') == 'Pride and joy'",
      "assert headline('of mice') == 'Of Mice'",
    ],
    dropped: [
      "assert headline('to be or not to be') == 'To Be Or Not To Be'",
      "assert headline('the sun') == 'the Sun'",
    ],
  },
  debugged: ['articles', 'conjunctions', 'prepositions'],
  clarified: [
    {
      statement:
        'A small word is one of at most two letters; every other word, and the first of all, gets a capital letter.',
      program: 'twoLetters',
    },
    {
      statement:
        'A small word is one of at most three letters; every longer word, and the first of all, gets a capital letter.',
      program: 'canonical',
    },
  ],
};

/** How are equal scores ordered? The third clarification says it as the examples have it. */
const topNames: ProblemScript = {
  taskId: 'mini/top-names',
  expected: { zeroShot: false, qualityFlow: true, finalStep: 'clarified' },
  programs: {
    lowestFirst: {
      right: false,
      code: `def top_names(scores, n):
    return sorted(scores, key=lambda name: scores[name])[-n:]
`,
    },
    asInserted: {
      right: false,
      code: `def top_names(scores, n):
    return sorted(scores, key=lambda name: -scores[name])[:n]
`,
    },
    byNameOnly: {
      right: false,
      code: `def top_names(scores, n):
    return sorted(scores)[:n]
`,
    },
    lastNameFirst: {
      right: false,
      code: `def top_names(scores, n):
    return sorted(scores, key=lambda name: (scores[name], name), reverse=True)[:n]
`,
    },
    longestName: {
      right: false,
      code: `def top_names(scores, n):
    return sorted(scores, key=lambda name: (-scores[name], -len(name)))[:n]
`,
    },
  },
  generated: ['lowestFirst'],
  imagined: {
    lowestFirst: { 0: "['ann', 'bob']", 1: "['dan', 'flo']", 2: "['gus', 'ida', 'hal']" },
    asInserted: { 1: "['flo', 'eve']" },
    byNameOnly: { 0: "['ann', 'bob']", 1: "['dan', 'eve']", 2: "['gus', 'hal', 'ida']" },
    lastNameFirst: { 1: "['flo', 'eve']", 2: "['hal', 'ida', 'gus']" },
    longestName: { 1: "['flo', 'eve']" },
  },
  tests: {
    kept: [
      "assert top_names({'a': 1, 'b': 2, 'c': 3}, 1) == ['c']",
      "assert top_names({'a': 1, 'b': 2, 'c': 3}, 2) == ['c', 'b']",
      "assert top_names({'m': 5, 'l': 5}, 2) == ['l', 'm']",
      "assert top_names({'k': 0}, 1) == ['k']",
      "assert top_names({'one': 7, 'two': 8}, 2) == ['two', 'one']",
    ],
    dropped: ["assert top_names({'a': 1, 'b': 2}, 2) == ['a', 'b']", "assert top_names({'a': 3}, 1) == 'a'"],
  },
  debugged: ['asInserted', 'byNameOnly', 'lastNameFirst'],
  clarified: [
    {
      statement: 'Best means highest; names with equal scores keep the order in which the dictionary holds them.',
      program: 'asInserted',
    },
    { statement: 'Best means highest; of names with equal scores the longest comes first.', program: 'longestName' },
    { statement: 'Best means highest; names with equal scores come in alphabetical order.', program: 'canonical' },
  ],
};

export const clarified: ProblemScript[] = [middleValue, headline, topNames];
