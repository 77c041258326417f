import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { classifyReply } from './classify-reply.ts';

const chat = (message: unknown, finish_reason: unknown = 'stop', rest: object = {}) =>
  JSON.stringify({
    model: 'm',
    choices: [{ message, finish_reason }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
    ...rest,
  });

const kinds: [what: string, body: string, kind: string][] = [
  ['plain text', chat({ content: 'hi' }), 'ok'],
  ['a byte order mark before the JSON', `\uFEFF${chat({ content: 'hi' })}`, 'ok'],
  [
    'a list of parts',
    chat({
      content: [
        { type: 'text', text: 'h' },
        { type: 'text', text: 'i' },
      ],
    }),
    'ok',
  ],
  ['a plain completion', JSON.stringify({ choices: [{ text: 'hi', finish_reason: 'stop' }] }), 'ok'],
  ['finish reason eos', chat({ content: 'hi' }, 'eos'), 'ok'],
  ['finish reason abort', chat({ content: 'hi' }, 'abort'), 'ok'],
  ['an empty finish reason', chat({ content: 'hi' }, ''), 'ok'],
  ['finish reason null', chat({ content: 'hi' }, null), 'ok'],
  ['error: null beside choices', chat({ content: 'hi' }, 'stop', { error: null }), 'ok'],
  ...[{}, 0, false, '', [], { message: '', code: 0 }, { code: null, message: null }].map(
    (error): [string, string, string] => [
      `error: ${JSON.stringify(error)} beside choices`,
      chat({ content: 'hi' }, 'stop', { error }),
      'ok',
    ],
  ),
  ['an empty error in the choice', JSON.stringify({ choices: [{ text: 'hi', error: {} }] }), 'ok'],
  ['tool calls beside text', chat({ content: 'hi', tool_calls: [{}] }, 'tool_calls'), 'ok'],
  ['a closed thinking block and an answer', chat({ content: '<think>a</think>b' }), 'ok'],
  ['finish reason length', chat({ content: 'h' }, 'length'), 'truncated'],
  ['a cut reply without a visible word', chat({ content: '' }, 'length'), 'truncated'],
  ['content null', chat({ content: null }), 'empty'],
  ['content absent', chat({}), 'empty'],
  ['content of white space', chat({ content: ' \n\t' }), 'empty'],
  ['no choices', JSON.stringify({ choices: [], usage: null }), 'empty'],
  ['choices null', JSON.stringify({ choices: null }), 'empty'],
  ['a tool call nobody asked for', chat({ content: null, tool_calls: [{ id: 'x' }] }, 'tool_calls'), 'empty'],
  ['a tool-call marker with zero calls', chat({ content: null, tool_calls: [] }), 'empty'],
  ['content filter', chat({ content: '' }, 'content_filter'), 'refused'],
  ['content filter in mid-sentence', chat({ content: 'def f' }, 'content_filter'), 'refused'],
  ['a refusal field', chat({ content: null, refusal: 'I cannot' }), 'refused'],
  [
    'no choices but filter notes',
    JSON.stringify({ choices: [], prompt_filter_results: [{ content_filter_results: { hate: { filtered: true } } }] }),
    'refused',
  ],
  ['reasoning_content only', chat({ content: null, reasoning_content: 'hm' }), 'no_final_answer'],
  ['reasoning only', chat({ content: '', reasoning: 'hm' }), 'no_final_answer'],
  ['cut while reasoning', chat({ content: '', reasoning_content: 'hm' }, 'length'), 'no_final_answer'],
  ['an unclosed thinking block', chat({ content: '<think>```python\ndef f(): 0\n```' }), 'no_final_answer'],
  ['a thinking block and nothing after it', chat({ content: '<Think>a</think>\n' }), 'no_final_answer'],
];

for (const [what, body, kind] of kinds) {
  test(`${what} is a reply of kind ${kind}`, () => {
    const classified = classifyReply(body);
    assert.equal(classified.kind === 'reply' && classified.reply.kind, kind);
  });
}

for (const [what, body] of [
  ['a web page', '<html>bad gateway</html>'],
  ['an empty body', ''],
  ['cut JSON', '{"choices":[{"mess'],
  ['a list', '[]'],
  ['null', 'null'],
  ['an object without choices', '{"object":"list"}'],
  ['an empty error without choices', '{"error":{}}'],
  ['finish reason error without an error', chat({ content: 'x' }, 'error')],
] as const) {
  test(`${what} inside HTTP 200 is malformed`, () => assert.equal(classifyReply(body).kind, 'malformed'));
}

test('an error inside HTTP 200 keeps its status, at the top and in a choice', () => {
  for (const body of [
    JSON.stringify({ error: { code: 429, message: 'slow down' } }),
    JSON.stringify({ choices: [{ finish_reason: 'error', error: { code: '429', message: 'slow down' } }] }),
  ]) {
    const classified = classifyReply(body);
    assert.equal(classified.kind, 'problem');
    assert.partialDeepStrictEqual(classified, { problem: { status: 429, message: 'slow down' } });
  }
});

test('usage is what was reported, null when nothing usable was', () => {
  const usage = (value: unknown) => {
    const classified = classifyReply(JSON.stringify({ choices: [{ message: { content: 'x' } }], usage: value }));
    return classified.kind === 'reply' ? classified.reply.usage : undefined;
  };
  assert.deepEqual(usage({ prompt_tokens: 3, completion_tokens: 2 }), { prompt: 3, completion: 2 });
  assert.deepEqual(usage({ prompt_tokens: 3 }), { prompt: 3, completion: 0 });
  for (const bad of [
    null,
    undefined,
    {},
    [],
    'x',
    { prompt_tokens: '3' },
    { prompt_tokens: -1 },
    { prompt_tokens: null },
  ])
    assert.equal(usage(bad), null);
});

test('any body gives an answer', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), fc.anything(), (body, anything) => {
      assert.ok(classifyReply(body).kind);
      assert.ok(classifyReply(JSON.stringify({ choices: [anything], error: undefined }) ?? '').kind);
      assert.ok(classifyReply(JSON.stringify({ choices: [{ message: anything, finish_reason: anything }] })).kind);
    }),
    { numRuns: 200 },
  );
});
