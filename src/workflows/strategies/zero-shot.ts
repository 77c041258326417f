import type { Solution } from '../../activities/contract.ts';
import type { Steps } from '../steps.ts';
import { nothingToSubmit, Trail } from '../trail.ts';

/** One prompt, one program: the baseline, and the unit of pass@k with `samples: n`. */
export async function zeroShot(steps: Steps): Promise<Solution> {
  const answer = await steps.generateProgram({ step: 'generate/0', prompt: 0 });
  if (answer.kind === 'unusable') return nothingToSubmit([answer]);
  const trail = new Trail();
  trail.add('generated', 0, [{ progression: 0, code: answer.code }], [null]);
  return trail.submitLatest(0);
}
