import { clarifierPrompt, readClarification } from '../agents/clarifier.ts';
import { criticPrompt, readCriticism } from '../agents/critic.ts';
import { generatorPrompt, readProgram } from '../agents/generator.ts';
import { completionPrompt, imaginedExecutionPrompt, readPrediction } from '../agents/imagined-execution.ts';
import { selfDebuggerPrompt } from '../agents/self-debugger.ts';
import { readTests, testDesignerPrompt } from '../agents/test-designer.ts';
import { readTestVerdict, testJudgePrompt } from '../agents/test-judge.ts';
import { askUnlessHeld as ask } from './ask-unless-held.ts';
import type { batchActivities } from './batch-activities.ts';
import type { ModelActivities } from './contract.ts';
import type { Dependencies } from './dependencies.ts';

/** Each activity: an agent's prompt, one request (Imagined Execution: two turns), an agent's reader. */
export function modelActivities(deps: Dependencies): Omit<ModelActivities, keyof ReturnType<typeof batchActivities>> {
  return {
    generateProgram({ context, problem, prompt, clarification, avoid }) {
      const { api } = context.model;
      return ask(deps, {
        context,
        activity: 'generateProgram',
        prompt: generatorPrompt({ problem, prompt, clarification, avoid, complaint: context.complaint, api }),
        read: (reply) =>
          readProgram({ reply, problem, api: prompt === 0 && clarification === undefined ? api : 'chat' }),
      });
    },

    async imagineExecution({ context, problem, code, test, showProblem }) {
      const { entryPoint } = problem;
      const first = imaginedExecutionPrompt({ code, test, entryPoint, problem: showProblem ? problem : undefined });
      if (first === undefined)
        return { kind: 'unusable', reason: 'no_answer', detail: 'the test asks for no value of the entry point' };
      // The first turn of a retry is the stored one: only the answer is asked for again.
      const trace = await ask(deps, {
        context: { ...context, step: `${context.step}/trace`, retry: 0 },
        activity: 'imagineExecution',
        prompt: first,
        read: ({ kind, text }) => ({ kind: 'trace' as const, usable: kind === 'ok' || kind === 'truncated', text }),
      });
      if (trace.kind !== 'trace') return trace;
      return ask(deps, {
        context,
        activity: 'imagineExecution',
        prompt: completionPrompt({
          first,
          firstReply: trace.usable ? trace.text : '',
          test,
          entryPoint,
          complaint: context.complaint,
        }),
        read: (reply) => readPrediction({ reply, test, entryPoint }),
      });
    },

    criticiseProgram({ context, problem, code }) {
      return ask(deps, {
        context,
        activity: 'criticiseProgram',
        prompt: criticPrompt({ problem, code, complaint: context.complaint }),
        read: (reply) => readCriticism({ reply }),
      });
    },

    designTests({ context, problem, query, count }) {
      return ask(deps, {
        context,
        activity: 'designTests',
        prompt: testDesignerPrompt({ problem, query, count, complaint: context.complaint }),
        read: (reply) => readTests({ reply, problem, count }),
      });
    },

    judgeTest({ context, problem, test }) {
      return ask(deps, {
        context,
        activity: 'judgeTest',
        prompt: testJudgePrompt({ problem, test, complaint: context.complaint }),
        read: (reply) => readTestVerdict({ reply }),
      });
    },

    debugProgram({ context, problem, code, results, prompt }) {
      return ask(deps, {
        context,
        activity: 'debugProgram',
        prompt: selfDebuggerPrompt({ problem, code, results, prompt, complaint: context.complaint }),
        read: (reply) => readProgram({ reply, problem, api: 'chat' }),
      });
    },

    clarifyProblem({ context, problem, evidence }) {
      return ask(deps, {
        context,
        activity: 'clarifyProblem',
        prompt: clarifierPrompt({ problem, evidence, complaint: context.complaint }),
        read: (reply) => readClarification({ reply }),
      });
    },
  };
}
