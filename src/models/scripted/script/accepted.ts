import type { ProblemScript } from './problem-script.ts';

/** The first program is right and is accepted at once: most problems, so that most of the work is skipped. */
const AT_ONCE = [
  'word-counts',
  'running-means',
  'ring-area',
  'chunks',
  'pairs-with-sum',
  'is-balanced',
  'flatten',
  'csv-field',
  'initials',
  'sum-lines',
  'power-digits',
];

const acceptedAtOnce: ProblemScript[] = AT_ONCE.map((name) => ({
  taskId: `mini/${name}`,
  expected: { zeroShot: true, qualityFlow: true, finalStep: 'generated' },
  generated: ['canonical'],
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
};

export const accepted: ProblemScript[] = [...acceptedAtOnce, parseDuration];
