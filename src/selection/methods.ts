import { acesCMethod, acesOMethod } from './aces.ts';
import { b4 } from './b4.ts';
import { codet } from './codet.ts';
import { majority } from './majority.ts';
import { mbrExec } from './mbr-exec.ts';
import type { Judgement, Method, Pool } from './method.ts';
import { random } from './random.ts';
import { type Ranking, rankByScore } from './ranking.ts';
import { srank } from './srank.ts';

export const METHOD_NAMES = ['aces-o', 'aces-c', 'codet', 'majority', 'mbr-exec', 'srank', 'b4', 'random'] as const;
export type MethodName = (typeof METHOD_NAMES)[number];

const METHODS: Record<MethodName, Method> = {
  'aces-o': acesOMethod,
  'aces-c': acesCMethod,
  codet,
  majority,
  'mbr-exec': mbrExec,
  srank,
  b4,
  random,
};

export interface Selection extends Judgement, Ranking {
  /** `groups` without the programs that the method gave no score (CodeT: those that pass nothing). */
  rankedGroups: number[][];
}

export function isMethodName(text: string): text is MethodName {
  return METHOD_NAMES.some((name) => name === text);
}

/** The methods that can judge a pool of which outputs are known, or not. */
export function usableMethods({ outputs }: { outputs: boolean }): MethodName[] {
  return METHOD_NAMES.filter((name) => outputs || METHODS[name].needsOutputs !== true);
}

export function select(name: MethodName, pool: Pool): Selection {
  const method = METHODS[name];
  const judgement = method.judge(pool);
  const ranking = rankByScore(judgement.scores, judgement.shuffled);
  const { unrankedScore } = method;
  const rankedGroups =
    unrankedScore === undefined
      ? ranking.groups
      : ranking.groups.filter(([first = 0]) => judgement.scores[first] !== unrankedScore);
  return { ...judgement, ...ranking, rankedGroups };
}
