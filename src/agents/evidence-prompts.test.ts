import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestResult } from '../grading/verdict.ts';
import type { Prompt } from '../models/model.ts';
import type { Problem } from '../problems/problem.ts';
import { clarifierPrompt, readClarification } from './clarifier.ts';
import { estimateTokens, exceedsContext } from './context-budget.ts';
import { criticPrompt } from './critic.ts';
import { ROLES } from './roles.ts';
import { DEBUG_PROMPTS, selfDebuggerPrompt } from './self-debugger.ts';
import { testJudgePrompt } from './test-judge.ts';

const CODE = 'def f(x):\n    return x\n';
const problem: Problem = {
  taskId: 'MBPP/1',
  kind: 'function',
  entryPoint: 'f',
  form: 'description',
  statement: 'Write f.',
  preamble: '',
  visibleTests: [{ kind: 'assert', source: 'assert f(1) == 2' }],
};
const failure: TestResult = { status: 'fail', test: 'assert f(5) == 6', actual: '5', expected: '6' };
const text = (prompt: Prompt) => prompt.messages.map(({ content }) => content).join('\n');

test('the debugger sees program, failing tests, actual results and exceptions, not the passing tests', () => {
  const results: TestResult[] = [
    failure,
    { status: 'pass', test: 'assert f(0) == 0' },
    { status: 'error', test: 'assert f("a") == 1', exception: 'ValueError: \u001b[2Jboom (line 2)' },
    { status: 'timeout', test: 'assert f(9) == 9' },
    { status: 'fail', test: 'assert f(7) == 8', printed: `seven\n${'z'.repeat(400)}\n` },
  ];
  const prompt = text(selfDebuggerPrompt({ problem, code: CODE, results, prompt: 0 }));
  for (const part of [
    ROLES.selfDebugger,
    CODE,
    'assert f(5) == 6',
    'actual result: 5',
    'expects: 6',
    'ValueError',
    'it printed: seven',
    'did not end in time',
    'passed 1',
  ])
    assert.ok(prompt.includes(part), part);
  assert.ok(!prompt.includes('assert f(0) == 0') && !prompt.includes('\u001b'));
});

test('three debug prompts differ in text and version', () => {
  const prompts = Array.from({ length: DEBUG_PROMPTS }, (_, prompt) =>
    selfDebuggerPrompt({ problem, code: CODE, results: [failure], prompt }),
  );
  assert.equal(new Set(prompts.map(text)).size, DEBUG_PROMPTS);
  assert.equal(new Set(prompts.map(({ version }) => version)).size, DEBUG_PROMPTS);
  assert.throws(() => selfDebuggerPrompt({ problem, code: CODE, results: [], prompt: DEBUG_PROMPTS }), RangeError);
});

test('hostile evidence stays bounded', () => {
  const huge = '\ud800\0'.repeat(1_000_000);
  const results: TestResult[] = Array.from({ length: 50 }, () => ({
    status: 'fail',
    test: huge,
    actual: huge,
    expected: huge,
  }));
  const debug = text(selfDebuggerPrompt({ problem, code: CODE, results, prompt: 1 }));
  const clarify = text(
    clarifierPrompt({
      problem,
      evidence: {
        code: CODE,
        tests: Array.from({ length: 50 }, (_, i) => ({ test: { kind: 'assert', source: huge }, kept: i % 2 === 0 })),
        results,
        earlier: Array.from({ length: 9 }, () => ({ clarification: huge, code: huge })),
      },
    }),
  );
  assert.ok(debug.length < 9000 && clarify.length < 14_000, `${debug.length} ${clarify.length}`);
  assert.ok(debug.isWellFormed() && clarify.isWellFormed() && debug.includes('42 more tests failed'));
});

test('the test judge sees the statement and the test, never a program', () => {
  const prompt = text(testJudgePrompt({ problem, test: { kind: 'assert', source: 'assert f(5) == 6' } }));
  assert.ok(
    prompt.startsWith(ROLES.testJudge) &&
      prompt.includes('Write f.') &&
      prompt.includes('assert f(5) == 6') &&
      !prompt.includes('def f'),
  );
});

test('the critic sees statement and program', () => {
  const prompt = text(criticPrompt({ problem, code: CODE, complaint: 'No verdict.' }));
  assert.ok(
    prompt.startsWith(ROLES.critic) &&
      prompt.includes(CODE) &&
      prompt.includes('Write f.') &&
      prompt.endsWith('Follow the requested form exactly.'),
  );
});

test('a further clarification is asked with the failed ones in sight', () => {
  const evidence = {
    code: CODE,
    tests: [{ test: { kind: 'assert', source: 'assert f(7) == 8' }, kept: true }],
    results: [failure],
    earlier: [],
  } as const;
  const first = text(
    clarifierPrompt({
      problem,
      evidence: { ...evidence, tests: [...evidence.tests], results: [...evidence.results], earlier: [] },
    }),
  );
  const second = text(
    clarifierPrompt({
      problem,
      evidence: {
        ...evidence,
        tests: [...evidence.tests],
        results: [...evidence.results],
        earlier: [{ clarification: 'It doubles.', code: CODE }],
      },
    }),
  );
  assert.ok(first.startsWith(ROLES.clarifier) && first.includes('assert f(7) == 8'));
  assert.ok(!first.includes('It doubles.') && second.includes('It doubles.'));
});

test('clarifications are read from the tag, or whole without code', () => {
  const read = (reply: string, kind: 'ok' | 'truncated' = 'ok') => {
    const result = readClarification({ reply: { kind, text: reply, reasoning: '', finishReason: 'stop' } });
    return result.kind === 'clarification' ? result.statement : result.reason;
  };
  assert.equal(read('Hm.\n<clarification>\nAdd one.\n</clarification>'), 'Add one.');
  assert.equal(read('Add one.\n```python\ndef f(): pass\n```\nAlways.'), 'Add one.\n\nAlways.');
  assert.equal(read('<clarification>Add o', 'truncated'), 'truncated');
  assert.equal(read('<clarification> </clarification>'), 'no_answer');
  assert.equal(read(''), 'empty');
});

test('the token estimate is a lower bound: words, or 128 bytes a token', () => {
  assert.equal(estimateTokens([{ content: 'one two\n three ' }, { content: '' }]), 3);
  assert.equal(estimateTokens([{ content: 'x'.repeat(1280) }]), 10);
  assert.equal(
    exceedsContext({ messages: [{ role: 'user', content: 'a b c' }], maxTokens: 7, contextTokens: 10 }),
    false,
  );
  assert.equal(
    exceedsContext({ messages: [{ role: 'user', content: 'a b c d' }], maxTokens: 7, contextTokens: 10 }),
    true,
  );
});
