import { sleep, upsertSearchAttributes } from '@temporalio/workflow';
import type {
  ClarifierEvidence,
  ModelActivities,
  ModelContext,
  Paced,
  ProblemInput,
  ProgramReply,
  SandboxActivities,
  Test,
  TestsReply,
  Unusable,
} from '../activities/contract.ts';
import type { TestResult } from '../grading/verdict.ts';
import type { Problem } from '../problems/problem.ts';
import { StageKey, type Stage } from '../temporal/search-attributes.ts';
import { modelActivities, sandboxActivities } from './proxies.ts';

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
  readonly #sandbox: ReturnType<typeof sandboxActivities>;
  #stage: Stage = 'generate';

  constructor(input: ProblemInput, problem: Problem) {
    this.#input = input;
    this.#problem = problem;
    this.#models = modelActivities(input.queues, input.model.requestTimeoutMs);
    this.#sandbox = sandboxActivities(input.queues);
  }

  /** Shows the stage in Temporal UI; each change costs one event. */
  enter(stage: Stage): void {
    if (stage === this.#stage) return;
    this.#stage = stage;
    upsertSearchAttributes([{ key: StageKey, value: stage }]);
  }

  generateProgram(options: { step: string; prompt: number; clarification?: string; avoid?: string }): Promise<Exclude<ProgramReply, Paced>> {
    const { step, ...rest } = options;
    const summary = options.clarification === undefined ? `generate with prompt ${options.prompt + 1}` : `generate again, clarified (prompt ${options.prompt + 1})`;
    return this.#ask(step, summary, 'generateProgram', { problem: this.#problem, ...rest });
  }

  /** The model's completed test for one visible test, or undefined when it gave none that can be read. */
  async imagineExecution(options: { step: string; code: string; test: Test; showProblem: boolean; summary: string }) {
    const { step, summary, ...rest } = options;
    const answer = await this.#ask(step, summary, 'imagineExecution', { problem: this.#problem, ...rest });
    return answer.kind === 'prediction' ? { prediction: answer.prediction, comparison: answer.comparison } : undefined;
  }

  /** The critic's yes or no; an unreadable answer is a no. */
  async criticiseProgram(options: { step: string; code: string; summary: string }): Promise<boolean> {
    const answer = await this.#ask(options.step, options.summary, 'criticiseProgram', { problem: this.#problem, code: options.code });
    return answer.kind === 'judgement' && answer.accept;
  }

  designTests(options: { step: string; query: number; count: number; of: number }): Promise<Exclude<TestsReply, Paced>> {
    return this.#ask(options.step, `design tests, query ${options.query + 1} of ${options.of}`, 'designTests', {
      problem: this.#problem,
      query: options.query,
      count: options.count,
    });
  }

  /** TQC: keep the test? An unreadable answer drops it. */
  async judgeTest(options: { step: string; test: Test; summary: string }): Promise<boolean> {
    const answer = await this.#ask(options.step, options.summary, 'judgeTest', { problem: this.#problem, test: options.test });
    return answer.kind === 'judgement' && answer.accept;
  }

  debugProgram(options: { step: string; code: string; results: TestResult[]; prompt: number; summary: string }): Promise<Exclude<ProgramReply, Paced>> {
    const { step, summary, ...rest } = options;
    return this.#ask(step, summary, 'debugProgram', { problem: this.#problem, ...rest });
  }

  async clarifyProblem(options: { step: string; evidence: ClarifierEvidence; summary: string }): Promise<string | undefined> {
    const answer = await this.#ask(options.step, options.summary, 'clarifyProblem', { problem: this.#problem, evidence: options.evidence });
    return answer.kind === 'clarification' ? answer.statement : undefined;
  }

  /** Rows by program, then by test. */
  runPrograms(options: { step: string; programs: string[]; tests: Test[]; summary: string }): Promise<TestResult[][]> {
    const { step, summary, ...rest } = options;
    return this.#run(summary, 'runPrograms', { context: { run: this.#input.run, step }, problem: this.#problem, ...rest });
  }

  comparePredictions(options: { step: string; predictions: { prediction: string; comparison: string }[]; summary: string }): Promise<boolean[]> {
    const { step, summary, ...rest } = options;
    return this.#run(summary, 'comparePredictions', { context: { run: this.#input.run, step }, ...rest });
  }

  async #run<K extends 'runPrograms' | 'comparePredictions'>(
    summary: string,
    activity: K,
    input: Parameters<SandboxActivities[K]>[0],
  ): Promise<Awaited<ReturnType<SandboxActivities[K]>>> {
    const run = this.#sandbox[activity] as unknown as Caller<Parameters<SandboxActivities[K]>[0], Awaited<ReturnType<SandboxActivities[K]>>>;
    return run.executeWithOptions({ summary }, [input]);
  }

  /** Asks, waits out a long pause on a durable timer, and asks once more when the reply cannot be used (algorithms 1.6 K). */
  async #ask<K extends keyof ModelActivities>(
    step: string,
    summary: string,
    activity: K,
    input: Omit<Parameters<ModelActivities[K]>[0], 'context'>,
  ): Promise<Exclude<Awaited<ReturnType<ModelActivities[K]>>, Paced>> {
    type Reply = Awaited<ReturnType<ModelActivities[K]>>;
    const ask = this.#models[activity] as unknown as Caller<object, Reply>;
    let retry = 0;
    let complaint: string | undefined;
    for (;;) {
      const context: ModelContext = { run: this.#input.run, step, model: this.#input.model, seed: this.#input.seed, retry, complaint };
      const answer = await ask.executeWithOptions({ summary: retry === 0 ? summary : `${summary}, asked again: ${complaint}`.slice(0, 200) }, [
        { context, ...input },
      ]);
      if (answer.kind === 'paced') {
        await sleep(Math.max(1, Date.parse(answer.until) - Date.now()), { summary: `paced until ${answer.until} by Retry-After` });
      } else if (answer.kind === 'unusable' && retry === 0 && !HOPELESS.has(answer.reason)) {
        retry = 1;
        complaint = answer.detail;
      } else {
        return answer as Exclude<Reply, Paced>;
      }
    }
  }
}

/** What a strategy sees of it. */
export type Steps = { [Method in keyof TemporalSteps]: TemporalSteps[Method] };

interface Caller<Input, Reply> {
  executeWithOptions(options: { summary: string }, args: [Input]): Promise<Reply>;
}
