import { upsertMemo, upsertSearchAttributes } from '@temporalio/workflow';
import type {
  BatchContext,
  ClarifierEvidence,
  Drawn,
  Held,
  ModelContext,
  OutcomeSummary,
  PoolRef,
  ProblemInput,
  ProgramSource,
  Ranked,
  Solution,
  Test,
  TestSource,
  Unusable,
} from '../activities/contract.ts';
import type { TestResult } from '../grading/verdict.ts';
import type { Problem } from '../problems/problem.ts';
import type { SelectOptions } from '../spec/spec.ts';
import { type Stage, StageKey } from '../temporal/search-attributes.ts';
import { summary as boundedSummary } from '../temporal/summary.ts';
import { Holds } from './holds.ts';
import { indices, inParallel } from './parallel.ts';
import { batchActivities, modelActivities, sandboxActivities, storeActivities } from './proxies.ts';

/** Requests of one batch: so much of a history's length they save, and so much a lone problem waits for them. */
const BATCH = 10;

/** Reasons after which the same question can never be answered, so that asking again would only cost. */
const HOPELESS = new Set<Unusable['reason']>(['context_too_long', 'rejected']);

/**
 * One problem's agents and sandbox, bound to its run: a strategy says what is to be done, this says it to Temporal, with a step name
 * (the key of `show`), a summary (what a person reads in the timeline), one retry of an unusable reply, and durable waits.
 */
export class TemporalSteps {
  readonly #input: ProblemInput;
  readonly #problem: Problem;
  readonly #models: ReturnType<typeof modelActivities>;
  readonly #batches: ReturnType<typeof batchActivities>;
  readonly #sandbox: ReturnType<typeof sandboxActivities>;
  readonly #holds: Holds;
  /** Steps that a row of the store was written for. */
  readonly #recorded = new Set<string>();
  #stage: Stage = 'generate';
  /** What Temporal UI shows: the stage, or `blocked`. */
  #shownStage: Stage = 'generate';
  #waiting = '';

  constructor(input: ProblemInput, problem: Problem) {
    this.#input = input;
    this.#problem = problem;
    this.#models = modelActivities(input.queues, input.model.requestTimeoutMs);
    this.#batches = batchActivities(input.queues, {
      requestTimeoutMs: input.model.requestTimeoutMs,
      requests: BATCH,
    });
    this.#sandbox = sandboxActivities(input.queues);
    this.#holds = new Holds({ maxWaitMs: input.maxWaitMs, show: (held) => this.#showHeld(held) });
  }

  /** What the store must know of this run, unless it is older than this workflow. */
  get recorded(): string[] {
    return [...this.#recorded];
  }

  /** Shows the stage in Temporal UI; each change costs one event. */
  enter(stage: Stage): void {
    this.#stage = stage;
    if (this.#shownStage !== 'blocked') this.#showStage(stage);
  }

  #showStage(stage: Stage): void {
    if (stage === this.#shownStage) return;
    this.#shownStage = stage;
    upsertSearchAttributes([{ key: StageKey, value: stage }]);
  }

  /** The memo `waiting` tells `sweep status` and Temporal UI why, and until when; null when nothing holds the problem. */
  #showHeld(held: Held | undefined): void {
    this.#showStage(held?.reason === 'blocked' ? 'blocked' : this.#stage);
    const waiting = held === undefined ? '' : `${held.reason} ${held.detail} ${held.until}`;
    if (waiting === this.#waiting) return;
    this.#waiting = waiting;
    upsertMemo({
      waiting: held && { reason: held.reason, detail: held.detail.slice(0, 300), until: held.until ?? null },
    });
  }

  generateProgram({ step, ...input }: { step: string; prompt: number; clarification?: string; avoid?: string }) {
    const summary =
      input.clarification === undefined
        ? `generate with prompt ${input.prompt + 1}`
        : `generate again, clarified (prompt ${input.prompt + 1})`;
    return this.#ask(step, summary, (options, context) =>
      this.#models.generateProgram.executeWithOptions(options, [{ context, problem: this.#problem, ...input }]),
    );
  }

  /** The model's completed test for one visible test, or undefined when it gave none that can be read. */
  async imagineExecution({
    step,
    summary,
    ...input
  }: {
    step: string;
    code: string;
    test: Test;
    showProblem: boolean;
    summary: string;
  }) {
    const answer = await this.#ask(step, summary, (options, context) =>
      this.#models.imagineExecution.executeWithOptions(options, [{ context, problem: this.#problem, ...input }]),
    );
    return answer.kind === 'prediction' ? { prediction: answer.prediction, comparison: answer.comparison } : undefined;
  }

  /** The critic's yes or no; an unreadable answer is a no. */
  async criticiseProgram({
    step,
    summary,
    ...input
  }: {
    step: string;
    code: string;
    summary: string;
  }): Promise<boolean> {
    const answer = await this.#ask(step, summary, (options, context) =>
      this.#models.criticiseProgram.executeWithOptions(options, [{ context, problem: this.#problem, ...input }]),
    );
    return answer.kind === 'judgement' && answer.accept;
  }

  designTests({ step, of, ...input }: { step: string; query: number; count: number; of: number }) {
    const summary = `design tests, query ${input.query + 1} of ${of}`;
    return this.#ask(step, summary, (options, context) =>
      this.#models.designTests.executeWithOptions(options, [{ context, problem: this.#problem, ...input }]),
    );
  }

  /** TQC: keep the test? An unreadable answer drops it. */
  async judgeTest({ step, summary, ...input }: { step: string; test: Test; summary: string }): Promise<boolean> {
    const answer = await this.#ask(step, summary, (options, context) =>
      this.#models.judgeTest.executeWithOptions(options, [{ context, problem: this.#problem, ...input }]),
    );
    return answer.kind === 'judgement' && answer.accept;
  }

  debugProgram({
    step,
    summary,
    ...input
  }: {
    step: string;
    code: string;
    results: TestResult[];
    prompt: number;
    summary: string;
  }) {
    return this.#ask(step, summary, (options, context) =>
      this.#models.debugProgram.executeWithOptions(options, [{ context, problem: this.#problem, ...input }]),
    );
  }

  async clarifyProblem({
    step,
    summary,
    ...input
  }: {
    step: string;
    evidence: ClarifierEvidence;
    summary: string;
  }): Promise<string | undefined> {
    const answer = await this.#ask(step, summary, (options, context) =>
      this.#models.clarifyProblem.executeWithOptions(options, [{ context, problem: this.#problem, ...input }]),
    );
    return answer.kind === 'clarification' ? answer.statement : undefined;
  }

  /** Rows by program, then by test. */
  async runPrograms({
    step,
    summary,
    ...input
  }: {
    step: string;
    programs: string[];
    tests: Test[];
    summary: string;
  }): Promise<TestResult[][]> {
    const { rows } = await this.#holds.through(() =>
      this.#sandbox.runPrograms.executeWithOptions({ summary }, [
        { context: { run: this.#input.run, step }, problem: this.#problem, ...input },
      ]),
    );
    this.#recorded.add(step);
    return rows;
  }

  async comparePredictions({
    step,
    summary,
    ...input
  }: {
    step: string;
    predictions: { prediction: string; comparison: string }[];
    summary: string;
  }): Promise<boolean[]> {
    const { equal } = await this.#holds.through(() =>
      this.#sandbox.comparePredictions.executeWithOptions({ summary }, [
        { context: { run: this.#input.run, step }, ...input },
      ]),
    );
    this.#recorded.add(step);
    return equal;
  }

  /** Draws `count` programs or queries of tests, in batches. */
  drawPrograms({ count }: { count: number }): Promise<Drawn> {
    return this.#draw(count, 'draw programs', (options, batch) =>
      this.#batches.drawPrograms.executeWithOptions(options, [batch]),
    );
  }

  drawTests({ count, perQuery }: { count: number; perQuery: number }): Promise<Drawn> {
    return this.#draw(count, 'draw tests, queries', (options, batch) =>
      this.#batches.drawTests.executeWithOptions(options, [{ ...batch, perQuery }]),
    );
  }

  /** Batches run side by side, and each to its end; within one the requests follow each other. */
  async #draw(
    count: number,
    what: string,
    send: (
      options: { summary: string },
      batch: { context: BatchContext; problem: Problem; from: number; count: number },
    ) => Promise<Drawn | Held>,
  ): Promise<Drawn> {
    const { run, model, endpointIdentity, seed } = this.#input;
    const context = { run, model, endpointIdentity, seed };
    const batches = await inParallel(indices(Math.ceil(count / BATCH)), async (batch) => {
      const to = Math.min(BATCH * (batch + 1), count);
      const parts: Drawn[] = [];
      for (let from = BATCH * batch; from < to; ) {
        const part = { context, problem: this.#problem, from, count: to - from };
        const summary = `${what} ${from + 1} to ${to} of ${count}`;
        const done = await this.#holds.through(() => send({ summary }, part));
        parts.push(done);
        from = done.next ?? to;
      }
      return parts;
    });
    const drawn = batches.flat();
    for (const step of drawn.flatMap(({ recorded }) => recorded)) this.#recorded.add(step);
    const unusable = drawn.flatMap((one) => one.unusable ?? []);
    return {
      kind: 'drawn',
      steps: drawn.flatMap(({ steps }) => steps),
      recorded: [],
      unusable: unusable.find(({ reason }) => reason === 'rejected') ?? unusable[0],
    };
  }

  /** Every program against every test; the matrix stays in the store. */
  async runPool({
    step,
    summary,
    ...input
  }: {
    step: string;
    programs: ProgramSource;
    tests: TestSource;
    summary: string;
  }): Promise<PoolRef> {
    const pool = await this.#holds.through(() =>
      this.#sandbox.runPool.executeWithOptions({ summary }, [
        { context: { run: this.#input.run, step }, problem: this.#problem, ...input },
      ]),
    );
    this.#recorded.add(step);
    return pool;
  }

  /** Best first. */
  async rankPool({
    step,
    ...input
  }: {
    step: string;
    pool: string;
    method: SelectOptions['method'];
    prefilter: SelectOptions['prefilter'];
    submit: number;
  }): Promise<Ranked> {
    const { run, queues, seed } = this.#input;
    const summary = `rank the programs by ${input.method}`;
    const ranked = await storeActivities(queues).rankPool.executeWithOptions({ summary }, [
      { context: { run, step }, seed, ...input },
    ]);
    this.#recorded.add(step);
    return ranked;
  }

  /** Grades what the strategy handed over, and records the outcome. */
  scoreSubmission(solution: Extract<Solution, { kind: 'submitted' | 'selected' }>): Promise<OutcomeSummary> {
    this.enter('score');
    const programs =
      solution.kind === 'selected' ? solution.top.length : new Set(solution.trail.map(({ code }) => code)).size;
    const many = solution.kind === 'selected' ? `the ${programs} best programs` : `${programs} distinct programs`;
    const summary = `score ${programs === 1 ? 'the program' : many} on the hidden tests`;
    return this.#holds.through(() =>
      this.#sandbox.scoreSubmission.executeWithOptions({ summary }, [
        { run: this.#input.run, solution, steps: this.recorded },
      ]),
    );
  }

  /** Asks, waits where the sweep is held, and asks once more when the reply cannot be used (algorithms 1.6 K). */
  async #ask<Answer extends { kind: string }>(
    step: string,
    summary: string,
    send: (options: { summary: string }, context: ModelContext) => Promise<Answer | Unusable | Held>,
  ): Promise<Answer | Unusable> {
    const { run, model, endpointIdentity, seed } = this.#input;
    let retry = 0;
    let complaint: string | undefined;
    for (;;) {
      const said = complaint === undefined ? summary : boundedSummary(`${summary}, asked again: ${complaint}`);
      const context = { run, step, model, endpointIdentity, seed, retry, complaint };
      const answer = await this.#holds.through(() => send({ summary: said }, context));
      if (!isUnusable(answer) && !('reply' in answer)) throw new Error(`the answer to ${step} holds no reply`);
      if ('reply' in answer && answer.reply !== undefined) this.#recorded.add(retry === 0 ? step : `${step}/again`);
      if (isUnusable(answer) && retry === 0 && !HOPELESS.has(answer.reason)) {
        retry = 1;
        complaint = answer.detail;
      } else {
        return answer;
      }
    }
  }
}

function isUnusable(answer: { kind: string }): answer is Unusable {
  return answer.kind === 'unusable';
}

/** What a strategy sees of it: everything but the end. */
export type Steps = { [Method in Exclude<keyof TemporalSteps, 'scoreSubmission' | 'recorded'>]: TemporalSteps[Method] };
