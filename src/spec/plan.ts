import type { AgentName } from '../agents/roles.ts';
import type { QualityFlowOptions, SweepSpec } from './spec.ts';

/** What a plan needs to know of one task. */
export interface TaskSize {
  visibleTests: number;
  /** UTF-8 bytes of statement and visible tests: what every prompt about the task holds. */
  bytes: number;
}

/** Requests by agent. */
export type Requests = Partial<Record<AgentName, number>>;

export interface RequestPlan {
  problems: number;
  samples: number;
  /** Problems whose programs the imagined and the python checker can only reject. */
  withoutVisibleTests: number;
  /**
   * Replies that the sweep needs; those already stored are not sent again, and attempts that got no reply are not counted.
   * `acceptedAtOnce`: every generated program is usable at once, unlike the others, and one of them accepted (`select`: every reply is usable at once).
   */
  requests: { least: number; acceptedAtOnce: number; most: number };
  /** Prompt and completion. An estimate: see `tokensOf`. */
  tokens: { least: number; most: number };
  /** The same in US$; null without prices. */
  usd: { least: number; most: number } | null;
}

/** An unusable reply is asked for once more (algorithms 1.6 K). */
const ASKS = 2;
/** Imagined Execution: reasoning, then the completed test (paper App. G); a retry asks only for the completed test again. */
const TURNS = 2;
const MOST_TURNS = 3;

/** Bounds on what a sweep sends, from the structure of its strategy; nothing is sent to find out. */
export function planRequests(
  spec: SweepSpec,
  { tasks, defaultMaxTokens }: { tasks: readonly TaskSize[]; defaultMaxTokens: Record<AgentName, number> },
): RequestPlan {
  const plan: RequestPlan = {
    problems: tasks.length,
    samples: spec.samples,
    withoutVisibleTests: tasks.filter(({ visibleTests }) => visibleTests === 0).length,
    requests: { least: 0, acceptedAtOnce: 0, most: 0 },
    tokens: { least: 0, most: 0 },
    usd: spec.prices === undefined ? null : { least: 0, most: 0 },
  };
  for (const task of tasks) {
    const { least, acceptedAtOnce, most } = boundsOf(spec, task.visibleTests);
    plan.requests.least += least * spec.samples;
    plan.requests.acceptedAtOnce += acceptedAtOnce * spec.samples;
    plan.requests.most += total(most) * spec.samples;
    const tokens = tokensOf({ spec, task, least, most, defaultMaxTokens });
    for (const end of ['least', 'most'] as const) {
      const { prompt, completion } = tokens[end];
      plan.tokens[end] += (prompt + completion) * spec.samples;
      if (plan.usd !== null) plan.usd[end] += usdOf(spec, tokens[end]) * spec.samples;
    }
  }
  return plan;
}

function usdOf({ prices }: SweepSpec, { prompt, completion }: Tokens): number {
  return prices === undefined ? 0 : (prompt * prices.prompt + completion * prices.completion) / 1_000_000;
}

interface Tokens {
  prompt: number;
  completion: number;
}

function boundsOf(
  { strategy }: SweepSpec,
  visibleTests: number,
): { least: number; acceptedAtOnce: number; most: Requests } {
  if (strategy.kind === 'zero-shot') return { least: 1, acceptedAtOnce: 1, most: { generator: ASKS } };
  if (strategy.kind === 'select') {
    const { programs, tests } = strategy;
    return {
      // Where no reply holds a program, no test is asked for.
      least: Math.min(ASKS * programs, programs + tests.queries),
      acceptedAtOnce: programs + tests.queries,
      most: { generator: ASKS * programs, testDesigner: ASKS * tests.queries },
    };
  }
  return {
    least: leastOf(strategy, visibleTests),
    acceptedAtOnce: acceptedAtOnceOf(strategy, visibleTests),
    most: mostOf(strategy, visibleTests),
  };
}

/**
 * The whole of Algorithm 1 with nothing accepted before its end, every reply asked for twice. Breadth-first by stage: all D generated
 * programs are checked before any test is designed, and likewise after each debug epoch and each clarifier attempt, so
 *
 *     programs = D + D·E + D·A            (generated, debugged, clarified; each is checked)
 *     checks   = programs · visible tests · 2 turns   (imagined; 3 with its retry), programs (critic), 0 (python, none)
 *     design   = pools · Q,  judge = pools · Q · P    (pools = 1 when shared, else D)
 */
function mostOf(options: QualityFlowOptions, visibleTests: number): Requests {
  const { diversified, debugEpochs, tests } = options;
  const attempts = options.clarifier ? options.clarifierAttempts : 0;
  const pools = tests.shared ? 1 : diversified;
  const programs = diversified * (1 + debugEpochs + attempts);
  return {
    generator: ASKS * diversified * (1 + attempts),
    imaginedExecution: options.checker === 'imagined' ? MOST_TURNS * programs * visibleTests : 0,
    critic: options.checker === 'critic' ? ASKS * programs : 0,
    testDesigner: ASKS * pools * tests.queries,
    testJudge: options.tqc ? ASKS * pools * tests.queries * tests.perQuery : 0,
    selfDebugger: ASKS * diversified * debugEpochs,
    clarifier: ASKS * diversified * attempts,
  };
}

/**
 * The cheapest way to an end. Either no reply holds a program (each asked for twice, and that is all), or the first stage accepts,
 * all programs being equal and so checked once, or, where nothing can be accepted (no checker; no visible test to check by), the flow
 * walks to its end with as few progressions and as few usable tests as can be.
 */
function leastOf(options: QualityFlowOptions, visibleTests: number): number {
  const { diversified, tests } = options;
  const nothingUsable = ASKS * diversified;
  if (canAccept(options, visibleTests)) {
    const check = { imagined: TURNS * visibleTests, critic: 1, python: 0, none: 0 }[options.checker];
    return Math.min(nothingUsable, diversified + check);
  }
  const attempts = options.clarifier ? options.clarifierAttempts : 0;
  const withProgressions = Array.from({ length: diversified }, (_, index) => {
    const alive = index + 1;
    const generated = alive + ASKS * (diversified - alive);
    return generated + (tests.shared ? 1 : alive) * tests.queries + 2 * alive * attempts;
  });
  return Math.min(nothingUsable, ...withProgressions);
}

function acceptedAtOnceOf(options: QualityFlowOptions, visibleTests: number): number {
  const { diversified } = options;
  const check = { imagined: TURNS * visibleTests, critic: 1, python: 0, none: 0 }[options.checker];
  return canAccept(options, visibleTests) ? diversified * (1 + check) : leastOf(options, visibleTests);
}

/** The critic needs no test; the other checkers reject where there is none (algorithms 1.6 L). */
function canAccept(options: QualityFlowOptions, visibleTests: number): boolean {
  return options.checker === 'critic' || (options.checker !== 'none' && visibleTests > 0);
}

/** Tokens of our own words in any prompt, generously. */
const TEMPLATE_TOKENS = 700;
/** Program text rarely takes fewer bytes a token than 2, nor prose more than 6, with the tokenizers of code models. */
const MIN_BYTES_PER_TOKEN = 2;
const MAX_BYTES_PER_TOKEN = 6;

/** Earlier replies that a prompt quotes, in replies of full length. */
const QUOTED_REPLIES: Record<AgentName, number> = {
  generator: 2, // a clarification and the program to differ from
  imaginedExecution: 2, // the program, and in turn two the reasoning
  critic: 1,
  testDesigner: 0,
  testJudge: 1,
  selfDebugger: 3, // the program, and what its tests gave
  clarifier: 6, // program, tests, results and earlier clarifications
};

/**
 * most: every request with the longest reply its `max_tokens` allows and a prompt of our words, the task, and quoted replies of full
 * length, or the declared context window where that is less. least: the fewest requests, counting of each only the task's own text.
 */
function tokensOf(input: {
  spec: SweepSpec;
  task: TaskSize;
  least: number;
  most: Requests;
  defaultMaxTokens: Record<AgentName, number>;
}): { least: Tokens; most: Tokens } {
  const { spec, task } = input;
  const context = spec.model.contextTokens ?? Number.POSITIVE_INFINITY;
  const replyTokens = (agent: AgentName) => replyLimit(spec, agent) ?? input.defaultMaxTokens[agent];
  const longestReply = Math.max(...agentsOf(input.most).map(replyTokens));
  const most: Tokens = { prompt: 0, completion: 0 };
  for (const agent of agentsOf(input.most)) {
    const prompt = TEMPLATE_TOKENS + Math.ceil(task.bytes / MIN_BYTES_PER_TOKEN) + QUOTED_REPLIES[agent] * longestReply;
    const requests = input.most[agent] ?? 0;
    const completion = Math.min(context, replyTokens(agent));
    most.prompt += requests * (Math.min(context, prompt + completion) - completion);
    most.completion += requests * completion;
  }
  return { least: { prompt: input.least * Math.ceil(task.bytes / MAX_BYTES_PER_TOKEN), completion: 0 }, most };
}

/** `max_tokens` that the spec sets for an agent, if it does. */
function replyLimit({ model }: SweepSpec, agent: AgentName): number | undefined {
  const general = model.parameters.max_tokens ?? model.parameters.max_completion_tokens;
  return model.maxTokens[agent] ?? (typeof general === 'number' ? general : undefined);
}

function agentsOf(requests: Requests): AgentName[] {
  const agents: AgentName[] = [
    'generator',
    'imaginedExecution',
    'critic',
    'testDesigner',
    'testJudge',
    'selfDebugger',
    'clarifier',
  ];
  return agents.filter((agent) => (requests[agent] ?? 0) > 0);
}

function total(requests: Requests): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}
