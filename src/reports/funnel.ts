import type { OutcomeRow } from '../store/store.ts';
import { stateAt } from './trail.ts';

/** How many runs came to a stage, how many were accepted there, and how many of those are right. */
export interface FunnelStage {
  entered: number;
  accepted: number;
  right: number;
}

/** Where accepted programs came from (algorithms 1.4, "Funnel"). `reverted` and `unaccepted` end without acceptance; `right` counts their submissions. */
export interface Funnel {
  generated: FunnelStage;
  debugged: FunnelStage;
  clarified: FunnelStage;
  reverted: { entered: number; right: number };
  unaccepted: { entered: number; right: number };
}

export function emptyFunnel(): Funnel {
  const stage = () => ({ entered: 0, accepted: 0, right: 0 });
  return {
    generated: stage(),
    debugged: stage(),
    clarified: stage(),
    reverted: { entered: 0, right: 0 },
    unaccepted: { entered: 0, right: 0 },
  };
}

/** Last step of each stage of QualityFlow. */
const STAGES = [
  ['generated', 'generated'],
  ['debugged', 'debug3'],
  ['clarified', 'clarified'],
] as const;

/** Counts one run through the stages up to the one that accepted it. Runs without a program or without any checking are not counted. */
export function countRun(funnel: Funnel, row: OutcomeRow): void {
  if (row.trail.every((entry) => entry.accepted === null)) return;
  for (const [stage, lastStep] of STAGES) {
    funnel[stage].entered++;
    const state = stateAt(row, lastStep);
    if (state?.accepted !== true) continue;
    funnel[stage].accepted++;
    if (state.program.graded.verdict === 'pass') funnel[stage].right++;
    return;
  }
  const end = row.finalStep === 'reverted' ? funnel.reverted : funnel.unaccepted;
  end.entered++;
  if (stateAt(row, 'final')?.program.graded.verdict === 'pass') end.right++;
}
