/** The workflow types, by the names that Temporal UI shows. */
export { solveProblem } from './solve-problem.ts';
export { runSweep } from './sweep/run-sweep.ts';
export { runSweepShard } from './sweep/run-sweep-shard.ts';
