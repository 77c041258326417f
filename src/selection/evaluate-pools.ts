import { bootstrapInterval } from '../statistics/bootstrap.ts';
import type { Interval } from '../statistics/intervals.ts';
import { byQuintile, type TestPower, testPower, weightQuality } from './diagnose.ts';
import { rankedPassAt } from './pass-at.ts';
import type { MatrixFile } from './read-matrix.ts';
import { seededRandom } from './seeded.ts';
import { type Row, selectPool } from './select-pool.ts';

/** A pool whose programs have been graded. */
export interface GradedPool extends MatrixFile {
  correct: boolean[];
}

export interface MethodFigures {
  /** Means over the pools by k; null where a pool has fewer than k programs. See `RankedPassAt`. */
  passAt: Record<string, number | null>;
  passAtIndexOrder: Record<string, number | null>;
  passAtCodeT: Record<string, number | null>;
  /** Of `passAt`: bootstrap over pools. */
  interval95: Record<string, Interval | null>;
}

export interface Diagnosis {
  /** Pools that hold right and wrong programs, and tests. */
  pools: number;
  meanDelta: number | null;
  /** Share of the tests of those pools with δ > 0, and with δ < 0. */
  informative: number | null;
  misleading: number | null;
  /** For methods that weigh tests: means over the pools. */
  weights: Partial<Record<Row, { informativeRecall: number | null; misleadingWeight: number | null }>>;
  /** Pass@1 (tie-aware) of each method, from the fifth of the pools with the worst tests to that with the best. */
  quintiles: { pools: number; meanDelta: number | null; passAt1: Partial<Record<Row, number | null>> }[];
}

/** Ranks every pool by every method; the labels are looked at only then. */
export function evaluatePools(input: {
  pools: readonly GradedPool[];
  methods: readonly Row[];
  ks: readonly number[];
  seed: number;
}): { methods: Partial<Record<Row, MethodFigures>>; diagnosis: Diagnosis } {
  const { pools, methods, ks, seed } = input;
  const methodFigures: Partial<Record<Row, MethodFigures>> = {};
  const powers = pools.map(({ matrix, correct }) =>
    testPower({ bits: matrix.bits, correct, counts: matrix.rowCounts }),
  );
  const separable: { meanDelta: number; power: TestPower; at: number }[] = powers.flatMap((power, at) =>
    power === null ? [] : [{ meanDelta: power.meanDelta, power, at }],
  );
  const deltas = separable.flatMap(({ power }) => [...power.delta]);
  const diagnosis: Diagnosis = {
    pools: separable.length,
    meanDelta: mean(separable.map(({ meanDelta }) => meanDelta)),
    informative: mean(deltas.map((delta) => (delta > 0 ? 1 : 0))),
    misleading: mean(deltas.map((delta) => (delta < 0 ? 1 : 0))),
    weights: {},
    quintiles: byQuintile(separable, () => null).map(({ tasks, meanDelta }) => ({
      pools: tasks,
      meanDelta,
      passAt1: {},
    })),
  };
  for (const name of methods) {
    const selections = pools.map((pool) => selectPool(name, pool, seed));
    const passAt = (k: number) =>
      selections.map(({ groups, rankedGroups }, at) =>
        rankedPassAt({ groups, rankedGroups, correct: pools[at]?.correct ?? [], k }),
      );
    const figures: MethodFigures = { passAt: {}, passAtIndexOrder: {}, passAtCodeT: {}, interval95: {} };
    for (const k of ks) {
      const found = passAt(k);
      const values = found.map(({ tieAware }) => tieAware);
      figures.passAt[k] = meanOfAll(values);
      figures.passAtIndexOrder[k] = meanOfAll(found.map(({ indexOrder }) => indexOrder));
      figures.passAtCodeT[k] = meanOfAll(found.map(({ codet }) => codet));
      figures.interval95[k] = values.includes(null)
        ? null
        : bootstrapInterval(
            // Sorted, so that the order of the pools has no part in what is drawn.
            values.filter((value) => value !== null).sort((a, b) => a - b),
            seededRandom(seed),
          );
    }
    methodFigures[name] = figures;

    const first = passAt(1);
    byQuintile(separable, ({ at }) => first[at]?.tieAware ?? null).forEach(({ value }, fifth) => {
      const quintile = diagnosis.quintiles[fifth];
      if (quintile !== undefined) quintile.passAt1[name] = value;
    });
    const qualities = separable.flatMap(({ power, at }) => {
      const weights = selections[at]?.tests?.weights;
      return weights === undefined ? [] : [weightQuality(power, weights)];
    });
    if (qualities.length > 0)
      diagnosis.weights[name] = {
        informativeRecall: mean(
          qualities.map(({ informativeRecall }) => informativeRecall).filter((value) => value !== null),
        ),
        misleadingWeight: mean(qualities.map(({ misleadingWeight }) => misleadingWeight)),
      };
  }
  return { methods: methodFigures, diagnosis };
}

/** Null when one is: leaving it out would bias the mean. */
function meanOfAll(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length < values.length ? null : mean(known);
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
