import { accepted } from './accepted.ts';
import { clarified } from './clarified.ts';
import { debugged } from './debugged.ts';
import { misjudged } from './misjudged.ts';
import type { ProblemScript } from './problem-script.ts';
import { reverted } from './reverted.ts';

/** The whole script, by the branch of Algorithm 1 that a problem takes under the default options. */
export const SCRIPT: readonly ProblemScript[] = [...accepted, ...debugged, ...clarified, ...reverted, ...misjudged];
