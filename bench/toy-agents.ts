import type { Activities, ReplyRef, Test } from '../src/activities/contract.ts';
import { qualityFlowSchema } from '../src/spec/schema.ts';
import type { Strategy } from '../src/spec/spec.ts';
import { toyProblem } from '../test/workflows/toy-activities.ts';

/** Sizes are those of HumanEval with a small model: a program of 0.6 KB, a reply of 0.8 KB, a prompt of 1.4 KB. */
const PROGRAM = '    # about as long as a program is\n'.repeat(17);
const REPLY: ReplyRef = {
  key: '0'.repeat(64),
  tokens: { prompt: 350, completion: 200 },
  reused: false,
  prompt: 'What an agent is told, line by line.\n'.repeat(38),
  reply: 'What a model answers, line by line.\n'.repeat(22),
};

const program = (name: string) => ({
  kind: 'program' as const,
  code: `# ${name}\n${PROGRAM}`,
  rule: 'toy',
  reply: REPLY,
});

const asserts = (count: number): Test[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'assert', source: `assert f(${index}) == ${index + 1}` }));

/** Agents that answer at once, about problems with `visible` tests; `perQuery` tests a query, and every program fails them. */
function agents({
  visible,
  perQuery,
  accepted,
}: {
  visible: number;
  perQuery: number;
  /** Whether the checker accepts the programs of a step. */
  accepted: (step: string) => boolean;
}): Partial<Activities> {
  return {
    loadProblem: async ({ taskId }) => ({ ...toyProblem(taskId), visibleTests: asserts(visible) }),
    generateProgram: async ({ prompt, clarification }) => program(`prompt ${prompt} ${clarification ?? ''}`),
    debugProgram: async ({ code, prompt }) => program(`${code.slice(0, 40)} debugged with ${prompt}`),
    imagineExecution: async () => ({
      kind: 'prediction',
      prediction: '1',
      comparison: '__prediction__ == 2',
      reply: REPLY,
    }),
    comparePredictions: async ({ context, predictions }) => ({
      kind: 'compared',
      equal: predictions.map(() => accepted(context.step)),
    }),
    designTests: async ({ query }) => ({
      kind: 'tests',
      tests: asserts(perQuery).map((_, index) => ({ kind: 'assert', source: `assert f(${query}, ${index}) == 0` })),
      reply: REPLY,
    }),
    judgeTest: async () => ({ kind: 'judgement', accept: true, reply: REPLY }),
    clarifyProblem: async () => ({ kind: 'clarification', statement: 'clearer', reply: REPLY }),
  };
}

/** What a spec that names nothing but the strategy gets. */
const DEFAULTS = qualityFlowSchema.parse({ kind: 'quality-flow' });

export type ShapeName = 'zero-shot' | 'quality-flow' | 'never right';

export interface Shape {
  strategy: Strategy;
  own: Partial<Activities>;
}

/** One visible test, which nobody looks at. */
export const ZERO_SHOT: Shape = {
  strategy: { kind: 'zero-shot' },
  own: agents({ visible: 1, perQuery: 0, accepted: () => true }),
};

/** Three progressions, one visible test, six designed ones, all accepted after the first debug epoch: 24 activities. */
export const QUALITY_FLOW: Shape = {
  strategy: { ...DEFAULTS, diversified: 3, tests: { queries: 2, perQuery: 3, shared: true } },
  own: agents({ visible: 1, perQuery: 3, accepted: (step) => step.includes('debug1') }),
};

/** The longest way there is, with as many visible tests as HumanEval has at most but for a few tasks. */
export const NEVER_RIGHT: Shape = {
  strategy: DEFAULTS,
  own: agents({ visible: 6, perQuery: 10, accepted: () => false }),
};
