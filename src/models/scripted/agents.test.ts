import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { clarifierPrompt, readClarification } from '../../agents/clarifier.ts';
import { criticPrompt, readCriticism } from '../../agents/critic.ts';
import { GENERATOR_PROMPTS, generatorPrompt, readProgram } from '../../agents/generator.ts';
import { completionPrompt, imaginedExecutionPrompt, readPrediction } from '../../agents/imagined-execution.ts';
import { asCompletion } from '../../agents/prompt-parts.ts';
import { DEBUG_PROMPTS, selfDebuggerPrompt } from '../../agents/self-debugger.ts';
import { readTests, testDesignerPrompt } from '../../agents/test-designer.ts';
import { readTestVerdict, testJudgePrompt } from '../../agents/test-judge.ts';
import { openDataset } from '../../problems/dataset.ts';
import type { Problem, VisibleTest } from '../../problems/problem.ts';
import { maskExpected } from '../../python-syntax/mask-expected.ts';
import type { ModelReply, Prompt } from '../model.ts';
import { answerTo } from './answer.ts';
import { KNOWN_TASKS, type KnownTask, programOf } from './recognise.ts';
import type { ScriptedTest } from './script/problem-script.ts';

/**
 * The script against the real prompts and readers: what a prompt asks is recognised, and what the script says is read back. A changed
 * prompt that the scripted model no longer understands fails here.
 */
const { records } = await openDataset({ benchmark: 'mini', home: tmpdir(), download: false });

function replyTo(prompt: Prompt, api: 'chat' | 'completions'): ModelReply {
  const { messages } = api === 'chat' ? prompt : asCompletion(prompt);
  return {
    kind: 'ok',
    text: answerTo(messages),
    reasoning: '',
    finishReason: 'stop',
    usage: null,
    model: 'scripted',
    latencyMs: 0,
  };
}

const lines = (code: string) =>
  code
    .replace(/^ *"""[\s\S]*?"""\n/gm, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('\n');
const at = <T>(list: readonly T[], index: number): T | undefined => list[Math.min(index, list.length - 1)];
const asTest = (test: ScriptedTest): VisibleTest =>
  typeof test === 'string' ? { kind: 'assert', source: test } : { kind: 'stdio', ...test };

function problemOf(task: KnownTask): Problem {
  const problem = records.get(task.taskId)?.problem();
  assert.ok(problem, task.taskId);
  return problem;
}

/** The program read from the reply, checked to be the named one; with imports of the statement before it where it has none. */
function expectProgram(prompt: Prompt, name: string, task: KnownTask, api: 'chat' | 'completions'): string {
  const problem = problemOf(task);
  const continues = prompt.version.includes('completion');
  const read = readProgram({ reply: replyTo(prompt, api), problem, api: continues ? 'completions' : 'chat' });
  assert.equal(read.kind, 'program', `${prompt.version}: ${JSON.stringify(read)}`);
  const code = read.kind === 'program' ? read.code : '';
  assert.ok(
    lines(code).endsWith(lines(task.programs.get(name) ?? '?')),
    `${prompt.version} gave another program than ${name}:\n${code}`,
  );
  return code;
}

for (const api of ['chat', 'completions'] as const) {
  for (const task of KNOWN_TASKS) {
    test(`the script of ${task.taskId} is understood both ways (${api})`, () => {
      const problem = problemOf(task);
      const { script } = task;
      const { entryPoint } = problem;
      assert.equal(problem.visibleTests.length, task.examples.length);

      for (let prompt = 0; prompt < GENERATOR_PROMPTS; prompt += 1) {
        const name = at(script.generated, prompt) ?? '';
        const code = expectProgram(generatorPrompt({ problem, prompt, api }), name, task, api);
        assert.equal(programOf(code, task), name, 'the program as read is recognised');
        for (const { statement, program } of script.clarified ?? []) {
          expectProgram(
            generatorPrompt({ problem, prompt, clarification: statement, avoid: task.canonical, api }),
            program,
            task,
            api,
          );
        }
      }

      for (const [name, code] of task.programs) {
        for (const [index, visible] of problem.visibleTests.entries()) {
          const first = imaginedExecutionPrompt({ code, test: visible, entryPoint });
          assert.ok(first);
          const second = completionPrompt({ first, firstReply: replyTo(first, api).text, test: visible, entryPoint });
          const read = readPrediction({ reply: replyTo(second, api), test: visible, entryPoint });
          const value = script.imagined?.[name]?.[index] ?? task.examples[index]?.expected ?? '?';
          const expected = visible.kind === 'stdio' ? JSON.stringify(value) : value;
          assert.ok(read.kind === 'prediction', JSON.stringify(read));
          assert.equal(read.prediction, expected, `${name} on visible test ${index}`);
          if (visible.kind === 'assert')
            assert.equal(
              maskExpected({ assertSource: visible.source, entryPoint })?.expected,
              task.examples[index]?.expected,
            );
        }
        const critic = readCriticism({ reply: replyTo(criticPrompt({ problem, code }), api) });
        assert.deepEqual(critic, { kind: 'judgement', accept: name === 'canonical' });
      }

      const designed = [...script.tests.kept, ...script.tests.dropped];
      for (const query of [0, 1, 2, 3, 4]) {
        const read = readTests({
          reply: replyTo(testDesignerPrompt({ problem, query, count: 10 }), api),
          problem,
          count: 10,
        });
        assert.deepEqual(read, { kind: 'tests', tests: designed.map(asTest) });
      }
      for (const one of designed) {
        const read = readTestVerdict({ reply: replyTo(testJudgePrompt({ problem, test: asTest(one) }), api) });
        assert.deepEqual(read, { kind: 'judgement', accept: script.tests.kept.includes(one) }, JSON.stringify(one));
      }

      for (const code of new Set(script.generated.map((name) => task.programs.get(name) ?? ''))) {
        const results = designed.map((one) => ({
          status: 'fail' as const,
          test: typeof one === 'string' ? one : one.stdin,
          actual: 'None',
        }));
        for (let prompt = 0; prompt < DEBUG_PROMPTS; prompt += 1) {
          const name = at(script.debugged ?? script.generated, prompt) ?? '';
          if (script.debugged !== undefined)
            expectProgram(selfDebuggerPrompt({ problem, code, results, prompt }), name, task, api);
        }
      }

      const clarified = script.clarified ?? [];
      for (const [attempt, { statement }] of clarified.entries()) {
        const earlier = clarified
          .slice(0, attempt)
          .map((one) => ({ clarification: one.statement, code: task.canonical }));
        const evidence = {
          code: task.canonical,
          tests: designed.map((one) => ({ test: asTest(one), kept: true })),
          results: [],
          earlier,
        };
        assert.deepEqual(readClarification({ reply: replyTo(clarifierPrompt({ problem, evidence }), api) }), {
          kind: 'clarification',
          statement,
        });
      }
    });
  }
}

test('a problem without a script gets answers that every reader takes', () => {
  const problem: Problem = {
    taskId: 'own/1',
    kind: 'function',
    entryPoint: 'unheard_of',
    form: 'description',
    statement: 'Write a function unheard_of(x).',
    preamble: '',
    visibleTests: [{ kind: 'assert', source: 'assert unheard_of(2) == 3' }],
  };
  const [visible] = problem.visibleTests;
  assert.ok(visible);
  const code = 'def unheard_of(x):\n    return x\n';
  const ask = (prompt: Prompt) => replyTo(prompt, 'chat');
  const program = readProgram({
    reply: ask(generatorPrompt({ problem, prompt: 3, api: 'chat' })),
    problem,
    api: 'chat',
  });
  assert.equal(program.kind, 'program');
  assert.equal(
    readProgram({ reply: ask(selfDebuggerPrompt({ problem, code, results: [], prompt: 1 })), problem, api: 'chat' })
      .kind,
    'program',
  );
  const first = imaginedExecutionPrompt({ code, test: visible, entryPoint: problem.entryPoint });
  assert.ok(first);
  const second = completionPrompt({
    first,
    firstReply: ask(first).text,
    test: visible,
    entryPoint: problem.entryPoint,
  });
  assert.partialDeepStrictEqual(readPrediction({ reply: ask(second), test: visible, entryPoint: problem.entryPoint }), {
    kind: 'prediction',
    prediction: 'None',
  });
  assert.equal(readTests({ reply: ask(testDesignerPrompt({ problem, query: 0, count: 10 })), problem }).kind, 'tests');
  assert.equal(readTestVerdict({ reply: ask(testJudgePrompt({ problem, test: visible })) }).kind, 'judgement');
  assert.equal(readCriticism({ reply: ask(criticPrompt({ problem, code })) }).kind, 'judgement');
  const evidence = { code, tests: [], results: [], earlier: [] };
  assert.equal(readClarification({ reply: ask(clarifierPrompt({ problem, evidence })) }).kind, 'clarification');
});
