import { z } from 'zod';
import { ROLES } from '../agents/roles.ts';
import { METHOD_NAMES } from '../selection/methods.ts';
import { DURATION_PATTERN, durationMs } from './duration.ts';

/** Sweep names are workflow ids, file names and search attributes at once. */
export const NAME_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const NAME_RULE = 'must be 1 to 64 of a-z, 0-9, ".", "_" and "-", and begin with a letter or digit';

/** Each rule carries one sentence of what is allowed, whichever way a value misses it. */
const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};
const yesNo = z.boolean({ error: 'must be true or false' });
const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });
const text = (error: string) => z.string({ error }).min(1, { error }).max(4096, { error });

/** Request fields that the product fills in itself; a sweep that set one would send something else than it records. */
const OWN_FIELDS = ['model', 'messages', 'prompt', 'stream', 'stream_options', 'n'];
const SECRET_FIELD = /^(api[-_]?key|authorization|x-api-key|access[-_]?token)$/i;

function refuseReservedFields(fields: Record<string, unknown>, context: z.core.$RefinementCtx): void {
  for (const key of Object.keys(fields)) {
    if (OWN_FIELDS.includes(key)) {
      context.addIssue({ code: 'custom', path: [key], message: 'is filled in by qualityflow and cannot be set here' });
    }
    if (key === 'seed') {
      const message =
        'differs by sample and retry and is made from the seed of the sweep: set `seed` at the top instead';
      context.addIssue({ code: 'custom', path: [key], message });
    }
    if (SECRET_FIELD.test(key)) {
      context.addIssue({
        code: 'custom',
        path: [key],
        message: 'looks like a secret; keys come only from the environment',
      });
    }
  }
}

const between = (min: number, max: number) => {
  const error = `must be a number from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
};

/** The fields whose values every endpoint reads alike; null: not sent. What else there is, only the endpoint knows. */
const knownFields = {
  max_tokens: whole(1, 1_000_000).nullable().exactOptional(),
  max_completion_tokens: whole(1, 1_000_000).nullable().exactOptional(),
  temperature: between(0, 2).nullable().exactOptional(),
  top_p: between(0, 1).nullable().exactOptional(),
};

const requestFields = (error: string) =>
  z
    .object(knownFields, { error: (issue) => (issue.code === 'invalid_type' ? error : undefined) })
    .catchall(z.json({ error: 'must be plain JSON' }))
    .superRefine(refuseReservedFields);

export const CHECKERS = ['imagined', 'python', 'critic', 'none'] as const;

export const zeroShotSchema = z.strictObject({ kind: z.literal('zero-shot') });

/** Three debug prompts exist, and a restart with the same prompt at temperature 0 would do nothing: hence at most 3 epochs. */
export const qualityFlowSchema = z.strictObject({
  kind: z.literal('quality-flow'),
  checker: oneOf(CHECKERS)
    .default('imagined')
    .describe('imagined = Standard, python = Relaxed (runs the visible tests), critic = yes/no classifier'),
  diversified: whole(1, 6).default(6).describe('generator prompts, and so progressions'),
  tests: z
    .strictObject(
      {
        queries: whole(1, 20).default(5),
        perQuery: whole(1, 50).default(10),
        shared: yesNo.default(true).describe('false: every progression designs its own tests'),
      },
      {
        error: (issue) =>
          issue.code === 'invalid_type' ? 'must be a mapping of queries, perQuery and shared' : undefined,
      },
    )
    .prefault({}),
  tqc: yesNo.default(true).describe('filter designed tests by the test quality checker'),
  debugEpochs: whole(0, 3).default(3),
  carryForward: yesNo.default(false).describe('true: each debug epoch goes on from the epoch before'),
  clarifier: yesNo.default(true),
  clarifierAttempts: whole(1, 10).default(3),
  revert: yesNo.default(true),
  onRevert: oneOf(['first', 'aces'])
    .default('first')
    .describe('what a revert submits: the first program, or the one that ACES ranks first by the designed tests'),
  checkerSeesProblem: yesNo.default(false),
});

/** Draws of one run have indexes below this in the store of replies; see `drawIndex` in `src/agents/sampling.ts`. */
const MOST_PROGRAMS = 1000;
export const MOST_TESTS = 500;

export const selectSchema = z.strictObject({
  kind: z.literal('select'),
  programs: whole(1, MOST_PROGRAMS).default(100).describe('programs drawn at temperature 0.8 and top-p 0.95'),
  tests: z
    .strictObject(
      {
        queries: whole(0, MOST_TESTS).default(50),
        perQuery: whole(1, 50).default(10),
      },
      { error: (issue) => (issue.code === 'invalid_type' ? 'must be a mapping of queries and perQuery' : undefined) },
    )
    .prefault({}),
  method: oneOf(METHOD_NAMES).default('aces-o').describe('how programs are ranked by tests: docs/selection.md'),
  prefilter: oneOf(['none', 'static'])
    .default('none')
    .describe('static: programs that cannot be right by their text alone come last'),
  submit: whole(1, 100).default(5).describe('so many of the best programs are graded; the first is the submission'),
});

/** Shorthands of `strategy`; each may also be a `preset` that further options refine. */
export const PRESETS = {
  standard: { kind: 'quality-flow', checker: 'imagined' },
  relaxed: { kind: 'quality-flow', checker: 'python' },
  'quality-flow': { kind: 'quality-flow' },
  'zero-shot': { kind: 'zero-shot' },
  select: { kind: 'select' },
} as const;
export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES: readonly PresetName[] = ['standard', 'relaxed', 'quality-flow', 'zero-shot', 'select'];

const ENDPOINT_RULE = 'must be the alias of a configured endpoint or an http(s) URL without user, password or query';

function isEndpoint(value: string): boolean {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value)) return true;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return (
    url !== undefined &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === '' &&
    url.search === ''
  );
}

const agentNames = Object.keys(ROLES);

const modelFields = {
  name: text('must be the name of a model, as its endpoint knows it'),
  endpoint: z.string({ error: ENDPOINT_RULE }).refine(isEndpoint, { error: ENDPOINT_RULE }).default('default'),
  api: oneOf(['chat', 'completions']).default('chat').describe('completions: plain prompts, for base models'),
  parameters: requestFields('must be a mapping of request parameters, such as { max_tokens: 512 }').prefault({}),
  extraBody: requestFields('must be a mapping of further request fields').prefault({}),
  maxTokens: z
    .strictObject(Object.fromEntries(agentNames.map((agent) => [agent, whole(1, 1_000_000).optional()])), {
      error: (issue) =>
        issue.code === 'invalid_type'
          ? `must map an agent to a number of tokens; agents are ${agentNames.join(', ')}`
          : undefined,
    })
    .prefault({})
    .describe('longest reply of single agents, in tokens'),
  contextTokens: whole(64, 100_000_000).optional().describe('context window of the model: prompt and reply, in tokens'),
  requestTimeoutMs: whole(1000, 86_400_000)
    .default(600_000)
    .describe('longest wait for one whole reply, in milliseconds'),
};

export const modelSchema = z.strictObject(modelFields, {
  error: (issue) =>
    issue.code === 'invalid_type' ? 'must be the name of a model, or a mapping with name and endpoint' : undefined,
});

const amount = (most: number) => {
  const error = `must be a number above 0, at most ${most}`;
  return z.number({ error }).positive({ error }).max(most, { error });
};
const price = (() => {
  const error = 'must be a number from 0 to 100000';
  return z.number({ error }).min(0, { error }).max(100_000, { error });
})();

/** Temporal keeps the history of a problem that waits no longer than this. */
const LONGEST_WAIT_MS = 30 * 86_400_000;
const WAIT_RULE = 'must be a length of time such as 90s, 10m or 24h, at most 30d';

const baseShape = {
  name: z.string({ error: NAME_RULE }).regex(NAME_PATTERN, { error: NAME_RULE }),
  benchmark: text('must name a benchmark or an own .jsonl file'),
  tasks: z
    .array(text('must be a task id'), { error: 'must be a list of task ids' })
    .min(1, { error: 'must name at least one task; leave it out for the whole benchmark' })
    .optional(),
  shuffle: whole(0, 2_147_483_647).optional().describe('seed of a shuffle before the limit'),
  limit: whole(1, 1_000_000).optional(),
  samples: whole(1, 10_000).default(1).describe('independent runs of the strategy a task'),
  seed: whole(0, 2_147_483_647).default(0),
  concurrency: z
    .strictObject(
      { problems: whole(1, 10_000).default(50), requests: whole(1, 10_000).default(20) },
      { error: (issue) => (issue.code === 'invalid_type' ? 'must be a mapping of problems and requests' : undefined) },
    )
    .prefault({}),
  budget: z
    .strictObject(
      { tokens: whole(1, 1_000_000_000_000).optional(), usd: amount(1_000_000).optional() },
      { error: (issue) => (issue.code === 'invalid_type' ? 'must be a mapping of tokens and usd' : undefined) },
    )
    .prefault({})
    .describe('hard cap over the whole sweep; usd needs prices'),
  prices: z
    .strictObject(
      { prompt: price, completion: price },
      { error: (issue) => (issue.code === 'invalid_type' ? 'must be a mapping of prompt and completion' : undefined) },
    )
    .optional()
    .describe('US$ per million tokens'),
  maxWait: z
    .string({ error: WAIT_RULE })
    .regex(DURATION_PATTERN, { error: WAIT_RULE })
    .refine((value) => (durationMs(value) ?? 0) <= LONGEST_WAIT_MS, { error: WAIT_RULE })
    .default('24h')
    .describe('longest pause asked for by the endpoint (Retry-After) that a problem sits out: 90s, 10m, 24h'),
};

/** Everything but strategy and model, which are read by themselves so that their errors name the variant that was meant. */
export const sweepSchema = z.strictObject({
  ...baseShape,
  strategy: z.unknown().optional(),
  model: z.unknown().optional(),
});

/** What `sweep resume` may change by flags. */
export const operationalSchema = sweepSchema.pick({ budget: true, concurrency: true });

const optionalOptions = qualityFlowSchema.omit({ kind: true }).partial().shape;
const optionalSelectOptions = selectSchema.omit({ kind: true }).partial().shape;

/** The whole file as a person writes it, shorthands included: the source of the published JSON Schema. */
export const sweepFileSchema = z.strictObject({
  ...baseShape,
  strategy: z.union([
    z.enum(['standard', 'relaxed', 'quality-flow', 'zero-shot', 'select']),
    zeroShotSchema,
    z.strictObject({ preset: z.literal('zero-shot') }),
    qualityFlowSchema,
    selectSchema,
    z.strictObject({ preset: z.literal('select'), ...optionalSelectOptions }),
    z.strictObject({ preset: z.enum(['standard', 'relaxed', 'quality-flow']), ...optionalOptions }),
  ]),
  model: z.union([z.string(), modelSchema]),
});
