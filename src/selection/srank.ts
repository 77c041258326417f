import type { Method } from './method.ts';
import { spread, weightedScores } from './pass-matrix.ts';

/**
 * SRank (arXiv 2311.03366): programs of identical outputs make a cluster; its score is Σ_j I_ij V_j over all clusters. I: share of the inputs
 * on which both ran and agreed, 1 with itself. V: its share of the distinct programs, times the share of all tests that it passes. Programs that never ran have 0.
 */
export const srank: Method = {
  needsOutputs: true,
  judge({ collapsed, outputs }) {
    if (outputs === undefined) throw new Error('SRank needs the outputs of the programs');
    const passed = spread(
      weightedScores(collapsed, new Float64Array(collapsed.byTest.rows).fill(1)),
      collapsed.rowKind,
    );
    const clusters = new Map<string, { values: Int32Array; texts: Set<number>; passRate: number }>();
    const keyOf = outputs.values.map((values) => values.join());
    outputs.values.forEach((values, program) => {
      if (values.every((value) => value < 0)) return;
      const key = keyOf[program] ?? '';
      const cluster = clusters.get(key) ?? {
        values,
        texts: new Set(),
        passRate: collapsed.tests === 0 ? 0 : (passed[program] ?? 0) / collapsed.tests,
      };
      cluster.texts.add(outputs.textOf[program] ?? 0);
      clusters.set(key, cluster);
    });
    let texts = 0;
    for (const cluster of clusters.values()) texts += cluster.texts.size;
    const scores = new Map<string, number>();
    for (const [key, one] of clusters) {
      let score = 0;
      for (const other of clusters.values())
        score +=
          (one === other ? 1 : agreement(one.values, other.values)) * (other.texts.size / texts) * other.passRate;
      scores.set(key, score);
    }
    return { scores: Float64Array.from(keyOf, (key) => scores.get(key) ?? 0) };
  },
};

function agreement(a: Int32Array, b: Int32Array): number {
  if (a.length === 0) return 0;
  let agreed = 0;
  for (let at = 0; at < a.length; at++) if ((a[at] ?? -1) >= 0 && a[at] === b[at]) agreed++;
  return agreed / a.length;
}
