import type { ChatMessage, ReplyKind } from '../models/model.ts';
import type { OutcomeRow, StepRow, Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { readStepResult, type StepResult } from './step-result.ts';

/** One step of a problem: what was asked, what came back raw, what was read from it, what it cost. */
export interface StoryStep {
  step: string;
  activity: string;
  attempt: number;
  startedAt: string;
  durationMs: number;
  /** Null for steps without a model request. */
  exchange: {
    replyKey: string;
    reused: boolean;
    /** Agent and version. */
    prompt: string;
    messages: ChatMessage[];
    kind: ReplyKind;
    text: string;
    reasoning: string;
    finishReason: string;
    /** Null when the endpoint reported none. */
    tokens: { prompt: number; completion: number } | null;
    latencyMs: number;
  } | null;
  result: StepResult;
}

/** Steps of one stage that stand together, as a heading in `show`. */
export interface StoryGroup {
  stage: string;
  attempt: number;
  steps: StoryStep[];
}

/** `show NAME TASK --json`. */
export interface ProblemStory {
  sweep: string;
  benchmark: string;
  scripted: boolean;
  taskId: string;
  sample: number;
  groups: StoryGroup[];
  /** Null while the run has no outcome. */
  outcome: OutcomeRow | null;
  usage: Awaited<ReturnType<Store['usage']>>;
}

/** Every recorded step of one run: stages as they followed each other, and in a stage, where steps run side by side, by name. Throws a `StoreError` when the sweep does not plan it. */
export async function buildProblemStory(input: {
  store: Store;
  sweep: string;
  taskId: string;
  sample: number;
}): Promise<ProblemStory> {
  const { store, taskId, sample } = input;
  const sweep = await store.getSweep(input.sweep);
  if (sweep === undefined || !sweep.tasks.includes(taskId) || sample < 0 || sample >= sweep.spec.samples) {
    throw new StoreError({
      kind: 'invalid',
      message: `Sweep ${JSON.stringify(input.sweep)} has no sample ${sample} of a task ${JSON.stringify(taskId)}.`,
      remedy: 'See the sweeps with: qualityflow sweep list',
    });
  }
  const key = { sweep: input.sweep, taskId, sample };
  const groups: StoryGroup[] = [];
  for (const row of await store.steps(key)) {
    const stage = stageOf(row.activity);
    const step = await readStep(store, row);
    const group = groups.at(-1);
    if (group?.stage === stage && group.attempt === row.run.attempt) group.steps.push(step);
    else groups.push({ stage, attempt: row.run.attempt, steps: [step] });
  }
  for (const group of groups) group.steps.sort((a, b) => comparePaths(a.step, b.step));
  return {
    ...key,
    benchmark: sweep.spec.benchmark,
    scripted: sweep.scripted,
    groups,
    outcome: (await store.getOutcome(key)) ?? null,
    usage: await store.usage(key),
  };
}

async function readStep(store: Store, row: StepRow): Promise<StoryStep> {
  const stored = row.replyKey === undefined ? undefined : await store.getExchange(row.replyKey);
  return {
    step: row.step,
    activity: row.activity,
    attempt: row.run.attempt,
    startedAt: row.startedAt,
    durationMs: row.durationMs,
    exchange:
      row.replyKey === undefined || stored === undefined
        ? null
        : {
            replyKey: row.replyKey,
            reused: row.reused,
            prompt: stored.request.prompt.version,
            messages: stored.request.prompt.messages,
            kind: stored.reply.kind,
            text: stored.reply.text,
            reasoning: stored.reply.reasoning,
            finishReason: stored.reply.finishReason,
            tokens: stored.reply.usage,
            latencyMs: stored.reply.latencyMs,
          },
    result: readStepResult(row.result),
  };
}

const NATURAL = new Intl.Collator('en', { numeric: true });

/** By path segment, numbers as numbers; what stands below a step (`…/trace`) came before it. */
function comparePaths(a: string, b: string): number {
  const again = Number(a.endsWith('/again')) - Number(b.endsWith('/again'));
  const segments = (path: string) => path.replace(/\/again$/, '').split('/');
  const [left, right] = [segments(a), segments(b)];
  for (const [i, segment] of left.entries()) {
    const other = right[i];
    if (other === undefined) return -1;
    const order = NATURAL.compare(segment, other);
    if (order !== 0) return order;
  }
  // A question asked again follows the first asking.
  return left.length < right.length ? 1 : again;
}

/** The stage as search attributes name it (architecture §9). */
function stageOf(activity: string): string {
  switch (activity) {
    case 'generateProgram':
    case 'drawPrograms':
      return 'generate';
    case 'imagineExecution':
    case 'criticiseProgram':
    case 'comparePredictions':
      return 'check';
    case 'designTests':
    case 'drawTests':
      return 'design-tests';
    case 'judgeTest':
      return 'filter-tests';
    case 'debugProgram':
      return 'debug';
    case 'clarifyProblem':
      return 'clarify';
    case 'runPool':
    case 'rankPool':
      return 'select';
    case 'runPrograms':
      return 'run';
    case 'scoreSubmission':
    case 'recordOutcome':
      return 'score';
    default:
      return activity;
  }
}
