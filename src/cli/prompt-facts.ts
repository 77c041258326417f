import { clarifierPrompt } from '../agents/clarifier.ts';
import { criticPrompt } from '../agents/critic.ts';
import { GENERATOR_PROMPTS, generatorPrompt } from '../agents/generator.ts';
import { completionPrompt, imaginedExecutionPrompt } from '../agents/imagined-execution.ts';
import type { AgentName } from '../agents/roles.ts';
import { DEBUG_PROMPTS, selfDebuggerPrompt } from '../agents/self-debugger.ts';
import { DESIGNER_QUERIES, testDesignerPrompt } from '../agents/test-designer.ts';
import { testJudgePrompt } from '../agents/test-judge.ts';
import type { Prompt } from '../models/model.ts';
import type { Problem, VisibleTest } from '../problems/problem.ts';
import type { Strategy } from '../spec/spec.ts';

const test: VisibleTest = { kind: 'assert', source: 'assert f(1) == 2' };
const problem: Problem = {
  taskId: 'x',
  kind: 'function',
  entryPoint: 'f',
  form: 'description',
  statement: 'Add one.',
  preamble: '',
  visibleTests: [test],
};
const code = 'def f(x):\n    return x + 1\n';

/** Every prompt there is, asked about a small problem: the agents themselves say their versions and the length of their replies. */
function allPrompts(): Prompt[] {
  const generators = indices(GENERATOR_PROMPTS).map((prompt) => generatorPrompt({ problem, prompt, api: 'chat' }));
  const first = imaginedExecutionPrompt({ code, test, entryPoint: problem.entryPoint });
  if (first === undefined) throw new Error('imagined execution has no question for the simplest of tests');
  return [
    ...generators,
    generatorPrompt({ problem, prompt: 0, api: 'completions' }),
    first,
    completionPrompt({ first, firstReply: '2', test, entryPoint: problem.entryPoint }),
    criticPrompt({ problem, code }),
    ...indices(DESIGNER_QUERIES).map((query) => testDesignerPrompt({ problem, query, count: 10 })),
    testJudgePrompt({ problem, test }),
    ...indices(DEBUG_PROMPTS).map((prompt) => selfDebuggerPrompt({ problem, code, results: [], prompt })),
    clarifierPrompt({ problem, evidence: { code, tests: [], results: [], earlier: [] } }),
  ];
}

/** Versions of the prompts that a strategy uses, by agent; part of a sweep's identity. */
export function promptVersions(strategy: Strategy): Record<string, string> {
  const used =
    strategy.kind === 'quality-flow'
      ? allPrompts()
      : allPrompts().filter(
          ({ version, agent }) =>
            version.startsWith('generator/0') || (strategy.kind === 'select' && agent === 'testDesigner'),
        );
  const versions: Record<string, string> = {};
  for (const { agent, version } of used)
    versions[agent] = agent in versions ? `${versions[agent]} ${version}` : version;
  return versions;
}

/** Longest reply by agent, in tokens, where the spec sets none. */
export function defaultMaxTokens(): Record<AgentName, number> {
  const longest = {
    generator: 0,
    imaginedExecution: 0,
    critic: 0,
    testDesigner: 0,
    testJudge: 0,
    selfDebugger: 0,
    clarifier: 0,
  };
  for (const prompt of allPrompts()) {
    if (isAgent(prompt.agent, longest)) longest[prompt.agent] = Math.max(longest[prompt.agent], prompt.maxTokens);
  }
  return longest;
}

function isAgent(name: string, agents: Record<AgentName, number>): name is AgentName {
  return Object.hasOwn(agents, name);
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
