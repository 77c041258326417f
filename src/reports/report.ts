import type { Outcome } from '../activities/contract.ts';
import type { SandboxFingerprint } from '../sandbox/sandbox.ts';
import type { Strategy } from '../spec/spec.ts';
import { asksGreedily } from '../statistics/greedy.ts';
import { type Headline, headline, type TaskProgress } from '../statistics/headline.ts';
import { isFinal } from '../store/final-outcome.ts';
import type { OutcomeRow, Store, SweepRow, SweepState } from '../store/store.ts';
import { noSuchSweep } from '../store/store-error.ts';
import { type Confusion, type ConfusionRates, confusionRates, countState, emptyConfusion } from './checker.ts';
import { countRun, emptyFunnel, type Funnel } from './funnel.ts';
import { countLeftOut, type LeftOut, nothingLeftOut } from './left-out.ts';
import { openRun, type RunOutcome, runOutcome } from './run-outcome.ts';
import {
  countSelection,
  nothingSelected,
  type SelectionCounts,
  type SelectionReport,
  selectionReport,
} from './selection.ts';
import { lastFive, REPORT_STEPS, type ReportStep, stateAt, stepsWithout } from './trail.ts';

/** Above this share of recorded runs that ended in infrastructure failures, a pass rate says more about the machines than about the model. */
export const INFRA_LIMIT = 0.05;

/** The k of pass@k that are reported, as far as the samples reach; the number of samples is one, too. */
const KS = [1, 5, 10, 100];

export interface StepScore {
  step: ReportStep;
  /** Runs whose submission would have been right at this step. */
  passed: number;
  /** Runs of which the checker had accepted a program by this step. */
  accepted: number;
  /** `passed` over the runs with a final outcome; null when there are none. */
  share: number | null;
}

/** `report NAME --json` (architecture §9). Shares lie in [0, 1]. A run is one sample of one task. */
export interface SweepReport {
  sweep: string;
  benchmark: string;
  strategy: string;
  model: string;
  endpoint: string;
  /** The offline scripted model answered: the numbers say nothing about a language model. */
  scripted: boolean;
  state: SweepState;
  /** Why, for `blocked`, `cancelled` and `failed`; else empty. */
  stateReason: string;
  datasetSha256: string;
  specHash: string;
  /** Every sandbox that graded; more than one means that results may not be comparable. */
  sandboxes: SandboxFingerprint[];
  taskCount: number;
  samples: number;
  /** With several samples: all of a task asked the same request at temperature 0, so pass@k with k > 1 says nothing about the model. */
  greedy: boolean;
  /** Planned runs = Σ `outcomes`. */
  planned: number;
  /** Runs by outcome; `not_run` is what has no row yet. */
  outcomes: Record<string, number>;
  /** By k. `value` is null when nothing is final, or when `noHeadline` says why. */
  passAt: Record<string, Headline>;
  noHeadline: string | null;
  tokens: {
    prompt: number;
    completion: number;
    /** Replies without a token count; they add nothing above. */
    unmetered: number;
    /** Of replies that this sweep has sent for; what is not paid was in the store before. */
    paid: { replies: number; prompt: number; completion: number };
    byAgent: Awaited<ReturnType<Store['usage']>>['byActivity'];
  };
  /** `possiblyCharged`: requests whose reply never came, though the provider may bill it. */
  requests: { sent: number; reused: number; possiblyCharged: number };
  /**
   * The ledger of every attempt: what was paid, what requests under way hold, what may have been charged, and the caps. Tokens may exceed those above by
   * replies that came twice (only one is kept) and by unmetered ones, which count with their bound.
   */
  budget: Awaited<ReturnType<Store['spent']>>;
  steps: StepScore[];
  /** The checker on the final state; all zero when nothing was checked. */
  checker: Confusion;
  checkerByStep: ({ step: ReportStep } & Confusion & ConfusionRates)[];
  /** What neither of these two tables can hold. */
  leftOut: LeftOut;
  /** Null when nothing was checked. */
  funnel: Funnel | null;
  /** Those of `steps` that the strategy cannot reach: they repeat the step before. */
  withoutSteps: ReportStep[];
  /** The paper's pass@5, which is not pass@k over samples: the submission or any of the four other programs made last passes. Null for strategies that make one program. */
  lastFive: { passed: number; share: number | null } | null;
  /** What ranking by tests did: the strategy `select`, or a revert by ACES. Null without either. */
  selection: SelectionReport | null;
  /** Passes whose verdict rests on a test inside the program's own process: it could have been forged. */
  forgeablePasses: number;
  /** Every planned run, in planned order. */
  tasks: RunOutcome[];
}

/** Reads a sweep's outcomes once, as a stream. Throws a `StoreError` when there is no such sweep. */
export async function buildReport({ store, sweep: name }: { store: Store; sweep: string }): Promise<SweepReport> {
  const sweep = await store.getSweep(name);
  if (sweep === undefined) throw noSuchSweep(name);
  const tally = startTally(sweep);
  for await (const row of store.outcomes(name)) countOutcome(tally, row);
  return summarise({ sweep, tally, usage: await store.usage({ sweep: name }), budget: await store.spent(name) });
}

/** Of a selection only the best programs are graded: what one draw is worth cannot be said. */
const STEPS_OF: Record<Strategy['kind'], readonly ReportStep[]> = {
  'zero-shot': ['zeroShot', 'final'],
  'quality-flow': REPORT_STEPS,
  select: ['final'],
};

interface Tally {
  steps: { step: ReportStep; passed: number; accepted: number; confusion: Confusion }[];
  outcomes: Map<Outcome, number>;
  tasks: Map<string, TaskProgress & { runs: RunOutcome[] }>;
  sandboxes: Map<string, SandboxFingerprint>;
  funnel: Funnel;
  leftOut: LeftOut;
  lastFive: number;
  selection: SelectionCounts;
  forgeablePasses: number;
}

function startTally({ spec, tasks }: SweepRow): Tally {
  const steps = STEPS_OF[spec.strategy.kind];
  return {
    steps: steps.map((step) => ({ step, passed: 0, accepted: 0, confusion: emptyConfusion() })),
    outcomes: new Map(),
    tasks: new Map(
      tasks.map((taskId) => [
        taskId,
        {
          n: spec.samples,
          c: 0,
          open: spec.samples,
          runs: Array.from({ length: spec.samples }, (_, sample) => openRun(taskId, sample)),
        },
      ]),
    ),
    sandboxes: new Map(),
    funnel: emptyFunnel(),
    leftOut: nothingLeftOut(),
    lastFive: 0,
    selection: nothingSelected(),
    forgeablePasses: 0,
  };
}

function countOutcome(tally: Tally, row: OutcomeRow): void {
  tally.outcomes.set(row.outcome, (tally.outcomes.get(row.outcome) ?? 0) + 1);
  const task = tally.tasks.get(row.run.taskId);
  if (task?.runs[row.run.sample] !== undefined) task.runs[row.run.sample] = runOutcome(row);
  if (!isFinal(row.outcome)) return;
  if (task !== undefined) {
    task.open--;
    if (row.outcome === 'pass') task.c++;
  }
  for (const score of tally.steps) {
    const state = stateAt(row, score.step);
    if (state?.program.graded.verdict === 'pass') score.passed++;
    if (state?.accepted === true) score.accepted++;
    countState(score.confusion, state);
  }
  countRun(tally.funnel, row);
  countLeftOut(tally.leftOut, row);
  if (lastFive(row).some((entry) => entry.graded.verdict === 'pass')) tally.lastFive++;
  countSelection(tally.selection, row);
  const submitted = row.submission === null ? undefined : row.trail[row.submission];
  if (row.outcome === 'pass' && submitted?.graded.forgeable === true) tally.forgeablePasses++;
  if (row.fingerprint !== null) tally.sandboxes.set(JSON.stringify(row.fingerprint), row.fingerprint);
}

function summarise(input: {
  sweep: SweepRow;
  tally: Tally;
  usage: Awaited<ReturnType<Store['usage']>>;
  budget: SweepReport['budget'];
}): SweepReport {
  const { sweep, tally, usage, budget } = input;
  const recorded = [...tally.outcomes.values()].reduce((sum, rows) => sum + rows, 0);
  const tasks = [...tally.tasks.values()];
  const final = sweep.planned - tasks.reduce((sum, task) => sum + task.open, 0);
  const share = (passed: number) => (final === 0 ? null : passed / final);
  const noHeadline = reasonAgainstHeadline({
    planned: sweep.planned,
    recorded,
    infra: tally.outcomes.get('infra') ?? 0,
  });
  const { strategy } = sweep.spec;
  return {
    sweep: sweep.name,
    benchmark: sweep.spec.benchmark,
    strategy: sweep.spec.strategy.kind,
    model: sweep.spec.model.name,
    endpoint: sweep.endpointIdentity,
    scripted: sweep.scripted,
    state: sweep.state,
    stateReason: sweep.stateReason,
    datasetSha256: sweep.datasetSha256,
    specHash: sweep.specHash,
    sandboxes: [...tally.sandboxes.values()],
    taskCount: sweep.tasks.length,
    samples: sweep.spec.samples,
    greedy: sweep.spec.samples > 1 && asksGreedily(sweep.spec.model),
    planned: sweep.planned,
    outcomes: {
      ...Object.fromEntries(tally.outcomes),
      ...(sweep.planned > recorded ? { not_run: sweep.planned - recorded } : {}),
    },
    passAt: passRates({ tasks, samples: sweep.spec.samples, withheld: noHeadline !== null }),
    noHeadline,
    tokens: {
      prompt: usage.prompt,
      completion: usage.completion,
      unmetered: usage.unmetered,
      paid: usage.paid,
      byAgent: usage.byActivity,
    },
    requests: { sent: usage.sent, reused: usage.reused, possiblyCharged: budget.possiblyCharged.requests },
    budget,
    steps: tally.steps.map(({ step, passed, accepted }) => ({ step, passed, accepted, share: share(passed) })),
    withoutSteps: stepsWithout(sweep.spec.strategy),
    checker: tally.steps.find(({ step }) => step === 'final')?.confusion ?? emptyConfusion(),
    checkerByStep: tally.steps.map(({ step, confusion }) => ({ step, ...confusion, ...confusionRates(confusion) })),
    leftOut: { ...tally.leftOut, unfinished: sweep.planned - final },
    funnel: tally.funnel.generated.entered === 0 ? null : tally.funnel,
    lastFive: strategy.kind === 'quality-flow' ? { passed: tally.lastFive, share: share(tally.lastFive) } : null,
    selection: selectionReport({ strategy, counts: tally.selection, share }),
    forgeablePasses: tally.forgeablePasses,
    tasks: tasks.flatMap(({ runs }) => runs),
  };
}

function passRates(input: { tasks: TaskProgress[]; samples: number; withheld: boolean }): Record<string, Headline> {
  const rates: Record<string, Headline> = {};
  for (const k of new Set([...KS, input.samples])) {
    if (k > input.samples) continue;
    const rate = headline(input.tasks, k);
    if (rate !== null) rates[k] = input.withheld ? { ...rate, value: null, interval95: null } : rate;
  }
  return rates;
}

function reasonAgainstHeadline({
  planned,
  recorded,
  infra,
}: {
  planned: number;
  recorded: number;
  infra: number;
}): string | null {
  if (planned === 0) return 'The sweep plans nothing.';
  if (infra <= recorded * INFRA_LIMIT) return null;
  return `${infra} of ${recorded} recorded runs ended in infrastructure failures, more than ${INFRA_LIMIT * 100} %.`;
}
