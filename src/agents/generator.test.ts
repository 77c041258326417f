import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../problems/problem.ts';
import { GENERATOR_PROMPTS, generatorPrompt, readProgram } from './generator.ts';
import { asCompletion } from './prompt-parts.ts';
import { ROLES } from './roles.ts';

/** In the shape of HumanEval/0: imports, two empty lines, docstring with examples, one final newline. */
const STATEMENT =
  'from typing import List\n\n\ndef near(xs: List[float], d: float) -> bool:\n    """ Are two numbers closer than d?\n    >>> near([1.0, 2.0], 0.5)\n    False\n    """\n';
const humanEval: Problem = {
  taskId: 'HumanEval/0',
  kind: 'function',
  entryPoint: 'near',
  form: 'completion',
  statement: STATEMENT,
  preamble: 'from typing import List\n',
  visibleTests: [{ kind: 'assert', source: 'assert near([1.0, 2.0], 0.5) == False' }],
};
const mbpp: Problem = {
  ...humanEval,
  taskId: 'MBPP/2',
  form: 'description',
  entryPoint: 'f',
  statement: 'Write a function f.',
  preamble: '',
  visibleTests: [
    { kind: 'assert', source: 'assert f(1) == 2' },
    { kind: 'assert', source: 'assert f("é") == 3' },
  ],
};
const stdio: Problem = {
  ...mbpp,
  taskId: 'own/1',
  kind: 'stdio',
  entryPoint: '',
  visibleTests: [{ kind: 'stdio', stdin: '1 2', stdout: '3\n' }],
};

test('the zero-shot prompt of a completion problem, byte by byte', () => {
  assert.deepEqual(generatorPrompt({ problem: humanEval, prompt: 0, api: 'chat' }), {
    version: 'generator/0@1',
    agent: 'generator',
    messages: [
      { role: 'system', content: 'You are a Python programmer. You write correct, complete Python 3 programs.' },
      {
        role: 'user',
        content: `Write the Python function near for the problem below.\n\nProblem:\n\`\`\`python\n${STATEMENT}\`\`\`\n\nIt must pass these tests:\n\`\`\`python\nassert near([1.0, 2.0], 0.5) == False\n\`\`\`\n\nGive the final program as one \`\`\`python code block that defines near with all imports and helper functions it needs, without tests or example calls.`,
      },
    ],
    temperature: 0,
    maxTokens: 512,
  });
});

test('a base model gets the HumanEval prompt itself, final newline included', () => {
  const prompt = generatorPrompt({ problem: humanEval, prompt: 0, api: 'completions' });
  assert.deepEqual(prompt.messages, [{ role: 'user', content: STATEMENT }]);
  assert.deepEqual(prompt.stop, ['\nclass', '\ndef', '\n#', '\nif']);
});

test('a base model gets a description as a docstring with its tests', () => {
  const prompt = generatorPrompt({ problem: mbpp, prompt: 0, api: 'completions' });
  assert.equal(prompt.messages[0]?.content, '"""\nWrite a function f.\nassert f(1) == 2\nassert f("é") == 3\n"""\n');
  assert.ok((prompt.stop ?? []).length <= 4, 'OpenAI takes four');
});

test('chat prompts never carry stop words', () => {
  for (let prompt = 0; prompt < GENERATOR_PROMPTS; prompt += 1)
    assert.equal(generatorPrompt({ problem: mbpp, prompt, api: 'chat' }).stop, undefined);
});

test('the six prompts differ and each shows role, statement and tests verbatim', () => {
  const texts = new Set<string>();
  const versions = new Set<string>();
  for (let prompt = 0; prompt < GENERATOR_PROMPTS; prompt += 1) {
    const { messages, version } = generatorPrompt({ problem: humanEval, prompt, api: 'chat' });
    assert.ok(messages[0]?.content.startsWith(ROLES.generator));
    assert.ok(
      messages[1]?.content.includes(STATEMENT) && messages[1].content.includes('assert near([1.0, 2.0], 0.5) == False'),
    );
    texts.add(messages[1]?.content ?? '');
    versions.add(version);
  }
  assert.deepEqual([texts.size, versions.size], [GENERATOR_PROMPTS, GENERATOR_PROMPTS]);
  assert.throws(() => generatorPrompt({ problem: mbpp, prompt: GENERATOR_PROMPTS, api: 'chat' }), RangeError);
});

test('clarification, earlier program and complaint are told', () => {
  const base = { problem: mbpp, prompt: 1, api: 'chat' } as const;
  const user =
    generatorPrompt({
      ...base,
      clarification: 'Means this.',
      avoid: 'def f(x):\n    return "```"\n',
      complaint: `No code.${'x'.repeat(5000)}`,
    }).messages[1]?.content ?? '';
  assert.ok(
    user.includes('Means this.') &&
      user.includes('````python\ndef f(x):\n    return "```"\n````') &&
      user.includes('No code.'),
  );
  assert.ok(user.length < 2500, 'a complaint is bounded');
  assert.notEqual(user, generatorPrompt(base).messages[1]?.content);
});

test('stdio problems ask for a program and show input and output', () => {
  const user = generatorPrompt({ problem: stdio, prompt: 0, api: 'chat' }).messages[1]?.content ?? '';
  assert.ok(user.includes('reads standard input') && user.includes('<input>\n1 2\n</input>\n<output>\n3\n</output>'));
});

test('one text for a completions endpoint holds all messages', () => {
  const chat = generatorPrompt({ problem: mbpp, prompt: 2, api: 'completions' });
  const { messages } = asCompletion(chat);
  assert.equal(messages.length, 1);
  for (const message of chat.messages) assert.ok(messages[0]?.content.includes(message.content));
  const bare = generatorPrompt({ problem: humanEval, prompt: 0, api: 'completions' });
  assert.equal(asCompletion(bare), bare);
});

test('a reply is read as a program', () => {
  const reply = {
    kind: 'ok',
    text: '```python\ndef f(x):\n    return 2\n```',
    reasoning: '',
    finishReason: 'stop',
  } as const;
  assert.deepEqual(readProgram({ reply, problem: mbpp, api: 'chat' }), {
    kind: 'program',
    code: 'def f(x):\n    return 2\n',
    rule: 'fenced',
  });
});
