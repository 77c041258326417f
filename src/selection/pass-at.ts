import { passAtK } from '../statistics/pass-at-k.ts';

/** Pass@k of one ranked pool, in the three ways in which papers count ties. Null where the pool has fewer than `k` programs. */
export interface RankedPassAt {
  /** Tie-aware: the top k and all who tie with the k-th; a random k of them. What the pool's order says never counts. */
  tieAware: number | null;
  /** The first k as ordered; ties in the order of the pool. */
  indexOrder: number | null;
  /** CodeT's own: a random member of each of the k best groups of equal score, starting over when there are fewer. */
  codet: number | null;
}

export function rankedPassAt(input: {
  groups: readonly (readonly number[])[];
  /** See `Selection`. Without any, CodeT falls back to a random k of the pool. */
  rankedGroups: readonly (readonly number[])[];
  /** By program. */
  correct: ArrayLike<boolean | number>;
  k: number;
}): RankedPassAt {
  const { groups, rankedGroups, correct, k } = input;
  const order = groups.flat();
  const count = (programs: readonly number[]) => programs.filter((program) => correct[program]).length;
  if (k < 1 || order.length < k) return { tieAware: null, indexOrder: null, codet: null };

  let reached = 0;
  const top = groups.filter((group) => {
    const wanted = reached < k;
    reached += group.length;
    return wanted;
  });
  const tied = top.flat();
  return {
    tieAware: passAtK({ n: tied.length, c: count(tied), k }),
    indexOrder: count(order.slice(0, k)) > 0 ? 1 : 0,
    codet: codetPassAt(),
  };

  function codetPassAt(): number | null {
    if (rankedGroups.length === 0) return passAtK({ n: order.length, c: count(order), k });
    let allWrong = 1;
    for (let draw = 0; draw < k; draw++) {
      const group = rankedGroups[draw % rankedGroups.length] ?? [];
      allWrong *= 1 - count(group) / group.length;
    }
    return 1 - allWrong;
  }
}
