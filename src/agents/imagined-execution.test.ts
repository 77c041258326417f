import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ReplyKind } from '../models/model.ts';
import type { VisibleTest } from '../problems/problem.ts';
import { cpuMs } from '../python-syntax/cpu-ms.ts';
import { completionPrompt, imaginedExecutionPrompt, readPrediction } from './imagined-execution.ts';
import { ROLES } from './roles.ts';

const CODE = 'def f(x):\n    return x + 1\n';
const plain: VisibleTest = { kind: 'assert', source: 'assert f([1, 2], "a") == 7' };
const close: VisibleTest = { kind: 'assert', source: 'assert math.isclose(f(1), 1.57, rel_tol=0.01)' };
const printed: VisibleTest = { kind: 'stdio', stdin: '1\n', stdout: '2 \n3\n' };

function read(text: string, question: VisibleTest = plain, kind: ReplyKind = 'ok') {
  const result = readPrediction({
    reply: { kind, text, reasoning: '', finishReason: 'stop' },
    test: question,
    entryPoint: 'f',
  });
  return result.kind === 'prediction' ? result.prediction : result.reason;
}

test('the first turn shows the program and the call without its expected value', () => {
  const prompt = imaginedExecutionPrompt({ code: CODE, test: plain, entryPoint: 'f' });
  assert.ok(prompt !== undefined);
  const [system, user] = prompt.messages;
  assert.ok(system?.content.startsWith(ROLES.imaginedExecution));
  assert.ok(user?.content.includes(`<function>\n\`\`\`python\n${CODE}\`\`\`\n</function>`));
  assert.ok(user?.content.includes('<function_call>\nf([1, 2], "a")\n</function_call>'));
  assert.ok(!user?.content.includes('7'));
});

test('nothing in the program tells the value that is asked for', () => {
  const code = `"""f([1, 2], "a") gives 71."""
def f(x, y):
    '''Adds.
    >>> f([1, 2], "a")
    72
    '''
    # f([1, 2], "a") == 73
    return x  # 74

assert f([1, 2], "a") == 75

if __name__ == "__main__":
    print(f([1, 2], "a") == 76)
`;
  const user = imaginedExecutionPrompt({ code, test: plain, entryPoint: 'f' })?.messages[1]?.content ?? '';
  assert.ok(user.includes('```python\ndef f(x, y):\n    return x\n'));
  assert.doesNotMatch(user, /7\d/);
});

test('another form of assert is shown whole, its value masked', () => {
  const user = imaginedExecutionPrompt({ code: CODE, test: close, entryPoint: 'f' })?.messages[1]?.content ?? '';
  assert.ok(user.includes('assert math.isclose(f(1), ?, rel_tol=0.01)') && !user.includes('1.57'));
});

test('a test that calls nothing of the program has no prompt', () => {
  assert.equal(
    imaginedExecutionPrompt({ code: CODE, test: { kind: 'assert', source: 'assert 1 == 1' }, entryPoint: 'f' }),
    undefined,
  );
});

test('the second turn continues the conversation with the masked assert', () => {
  const first = imaginedExecutionPrompt({ code: CODE, test: plain, entryPoint: 'f' });
  assert.ok(first !== undefined);
  const { messages } = completionPrompt({
    first,
    firstReply: `<think>no</think>It is 8.${'y'.repeat(9000)}`,
    test: plain,
    entryPoint: 'f',
    complaint: 'No assert.',
  });
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'user'],
  );
  assert.ok(messages[2]?.content.startsWith('It is 8.') && messages[2].content.length < 4100);
  assert.ok(messages[3]?.content.includes('assert f([1, 2], "a") == ?') && messages[3].content.includes('No assert.'));
});

const replies: [name: string, text: string, expected: string, question?: VisibleTest, kind?: ReplyKind][] = [
  ['in the tag', '<test_case>\nassert f([1, 2], "a") == 8\n</test_case>', '8'],
  ['in the tag and a fence', '<test_case>\n```python\nassert f([1, 2], "a") == 8\n```\n</test_case>', '8'],
  [
    'without the tag: the last assert line',
    'First assert f(0).\nassert f([1, 2], "a") == 9\nno:\nassert f([1, 2], "a") == {"b": 8}',
    '{"b": 8}',
  ],
  ['unclosed tag', '<test_case>assert f([1, 2], "a") == 8', '8'],
  ['other spacing and quotes', "<test_case>assert f([1,2],'a')==(8)</test_case>", '(8)'],
  ['backticks', '`assert f([1, 2], "a") == 8`', '8'],
  ['comment and message', 'assert f([1, 2], "a") == "8", "eight"  # done', '"8"'],
  ['several lines', '<test_case>assert f([1, 2], "a") == [\n  1,\n  2,\n]</test_case>', '[\n  1,\n  2,\n]'],
  ['the value alone in the tag', '<test_case>8</test_case>', '8'],
  ['an expression', 'assert math.isclose(f(1), math.pi / 2, rel_tol=0.01)', 'math.pi / 2', close],
  ['after thinking', '<think>assert f([1, 2], "a") == 1</think>assert f([1, 2], "a") == 8', '8'],
  ['another text in the call', 'assert f([1, 2], "a ") == 8', 'no_answer'],
  [
    'a comparison of two calls',
    'assert (f(1) == f(2)) == True',
    'True',
    { kind: 'assert', source: 'assert f(1) == f(2)' },
  ],
  ['another call', 'assert f([1], "a") == 8', 'no_answer'],
  ['the mask left in', 'assert f([1, 2], "a") == ?', 'no_answer'],
  ['the call as its own value', 'assert f([1, 2], "a") == f([1, 2], "a")', 'no_answer'],
  ['prose', 'The result is 8.', 'no_answer'],
  ['cut off', 'assert f([1, 2], "a") == [1,', 'truncated', plain, 'truncated'],
  ['unclosed thinking', '<think>assert f([1, 2], "a") == 8', 'no_final_answer'],
  ['nothing', ' ', 'empty'],
  ['a refusal', 'No.', 'refused', plain, 'refused'],
  ['printed text', '<output>\n2\n3\n</output>', '"2\\n3\\n"', printed],
  ['printed text is missing', '2\n3', 'no_answer', printed],
];
for (const [name, text, expected, question, kind] of replies)
  test(`prediction: ${name}`, () => assert.equal(read(text, question, kind), expected));

test('the comparison keeps the operator of the original test', () => {
  const reply = {
    kind: 'ok',
    text: 'assert math.isclose(f(1), 3, rel_tol=0.01)',
    reasoning: '',
    finishReason: 'stop',
  } as const;
  assert.deepEqual(readPrediction({ reply, test: close, entryPoint: 'f' }), {
    kind: 'prediction',
    prediction: '3',
    comparison: 'math.isclose(__prediction__, 1.57, rel_tol=0.01)',
  });
});

test('asserts without a stated value ask for the value of the call', () => {
  const question: VisibleTest = { kind: 'assert', source: 'assert not f(0)' };
  const reply = {
    kind: 'ok',
    text: '<test_case>assert f(0) == False</test_case>',
    reasoning: '',
    finishReason: 'stop',
  } as const;
  assert.deepEqual(readPrediction({ reply, test: question, entryPoint: 'f' }), {
    kind: 'prediction',
    prediction: 'False',
    comparison: 'not __prediction__',
  });
});

test('any reply is read without throwing, and 1 MB in linear time', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      (text) =>
        void [read(text), read(`<test_case>${text}`), read(`assert f([1, 2], "a") == ${text}`), read(text, printed)],
    ),
  );
  for (const unit of [
    '<test_case>',
    'assert f(',
    'assert f([1, 2], "a") == 8\n',
    '`',
    '(',
    '</test_case>',
    '<output>',
  ]) {
    const took = cpuMs(() => {
      read(unit.repeat(Math.ceil(1_000_000 / unit.length)));
      read(unit.repeat(Math.ceil(1_000_000 / unit.length)), printed);
    });
    assert.ok(took < 2000, unit);
  }
});
