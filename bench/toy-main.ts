/** One toy sweep in a process of its own (`fork`): a fresh SDK runtime, and nobody minds what the server prints. Arguments: shape, problems, concurrency. */
import { NEVER_RIGHT, QUALITY_FLOW, type ShapeName, ZERO_SHOT } from './toy-agents.ts';
import { playToySweep } from './toy-sweep.ts';

const SHAPES: Record<ShapeName, typeof ZERO_SHOT> = {
  'zero-shot': ZERO_SHOT,
  'quality-flow': QUALITY_FLOW,
  'never right': NEVER_RIGHT,
};

const [name = '', problems, concurrency] = process.argv.slice(2);
const [, shape] = Object.entries(SHAPES).find(([known]) => known === name) ?? [];
if (shape === undefined) throw new RangeError(`no shape ${name}`);
const result = await playToySweep({ ...shape, problems: Number(problems), concurrency: Number(concurrency) });
process.send?.(result, () => process.disconnect());
