import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ReplyKind } from '../models/model.ts';
import type { Problem } from '../problems/problem.ts';
import { cpuMs } from '../python-syntax/cpu-ms.ts';
import { extractProgram } from './extract-program.ts';

const mbpp: Problem = {
  taskId: 'MBPP/1',
  kind: 'function',
  entryPoint: 'f',
  form: 'description',
  statement: 'Write f.',
  preamble: '',
  visibleTests: [],
};
const humanEval: Problem = {
  ...mbpp,
  taskId: 'HumanEval/0',
  form: 'completion',
  statement:
    'from typing import List\n\n\ndef f(n: int) -> List[int]:\n    """ Numbers below n.\n    >>> f(2)\n    [0, 1]\n    """\n',
  preamble: 'from typing import List\n',
};
const stdio: Problem = { ...mbpp, taskId: 'own/1', kind: 'stdio', entryPoint: '' };

function extract(
  text: string,
  options: { problem?: Problem; kind?: ReplyKind; api?: 'chat' | 'completions' } = {},
): { code: string; rule: string } | string {
  const { problem = mbpp, kind = 'ok', api = 'chat' } = options;
  const result = extractProgram({
    reply: { kind, text, reasoning: '', finishReason: kind === 'truncated' ? 'length' : 'stop' },
    problem,
    api,
  });
  return result.kind === 'program' ? { code: result.code, rule: result.rule } : result.reason;
}

const GOOD = 'def f(n):\n    return n + 1';
const fence = (code: string, language = 'python', mark = '```') => `${mark}${language}\n${code}\n${mark}`;

/** Whole kind of fault: what models send, and the program or the reason that must come of it. */
const rows: [
  name: string,
  reply: string,
  expected: string | { code: string; rule: string },
  options?: Parameters<typeof extract>[1],
][] = [
  ['plain block', `Sure!\n${fence(GOOD)}\nDone.`, { code: GOOD, rule: 'fenced' }],
  [
    'row 1: entry point f with helper inside and a trailing print',
    fence(`def f(n):\n    def g(i):\n        return i\n    return [g(i) for i in range(n)]\n\nprint(f(5))`),
    {
      code: 'def f(n):\n    def g(i):\n        return i\n    return [g(i) for i in range(n)]',
      rule: 'fenced+tests-dropped',
    },
  ],
  ['row 2: no opening fence', 'def f(): return 1\n```', { code: 'def f(): return 1', rule: 'fenced' }],
  [
    'row 2: no opening fence, prose after',
    `${GOOD}\n\`\`\`\nThis adds one:\n\`\`\`\n>>> f(1)\n\`\`\``,
    { code: GOOD, rule: 'fenced' },
  ],
  ['row 2: no opening fence, language word left', `python\n${GOOD}\n\`\`\``, { code: GOOD, rule: 'fenced' }],
  [
    'row 4: instruction echo, then js, then python',
    `You asked for code enclosed in a \`\`\` block.\n${fence('function f(n) { return 1 }', 'js')}\n${fence(GOOD)}`,
    { code: GOOD, rule: 'fenced' },
  ],
  [
    'row 4: echo at the start of a line',
    `\`\`\` block is what you want.\n${fence(GOOD)}`,
    { code: GOOD, rule: 'fenced' },
  ],
  ['row 5: tool call', '<tool_call>\n```python\nfoo(x=1)\n```\n</tool_call>', 'tool_call_garbage'],
  ['row 5: tool call that defines the entry point', `<tool_call>\n${fence(GOOD)}\n</tool_call>`, 'tool_call_garbage'],
  ['row 5: unclosed tool call', '<tool_call>\n{"name": "run"', 'tool_call_garbage'],
  ['row 5: call object', '{"name": "python", "arguments": {"code": "def f(n): return 1"}}', 'tool_call_garbage'],
  ['row 5: call tokens', '[TOOL_CALLS] [{"name": "python", "arguments": {}}]', 'tool_call_garbage'],
  [
    'row 5: answer after a tool call',
    `<tool_call>{"name": "x"}</tool_call>\n${fence(GOOD)}`,
    { code: GOOD, rule: 'fenced' },
  ],
  ['row 7: closing fence cut off', `\`\`\`python\n${GOOD}\n\`\``, { code: GOOD, rule: 'fenced' }],
  ['row 7: closing fence cut off by length', `\`\`\`python\n${GOOD}\n\`\``, 'truncated', { kind: 'truncated' }],
  ['row 8: end of text', `${GOOD}<|endoftext|>\ndef f(n): return 2`, { code: GOOD, rule: 'unfenced' }],
  ['row 8: im_end in a block', `\`\`\`python\n${GOOD}<|im_end|>`, { code: GOOD, rule: 'fenced' }],
  ['row 8: </s>', `${fence(GOOD)}</s>`, { code: GOOD, rule: 'fenced' }],
  ['row 8: </s> in code', `\`\`\`python\n${GOOD}</s>\n\`\`\``, { code: GOOD, rule: 'fenced' }],
  ['row 8: start tokens', `<|im_start|>assistant\n${fence(GOOD)}<|im_end|>`, { code: GOOD, rule: 'fenced' }],
  ['row 8: DeepSeek', `${fence(GOOD)}<｜end▁of▁sentence｜>`, { code: GOOD, rule: 'fenced' }],
  [
    'row 8: a program about tokens keeps them',
    fence(`def f(n):\n    return n.split("<|endoftext|>") + ['</s>']`),
    { code: `def f(n):\n    return n.split("<|endoftext|>") + ['</s>']`, rule: 'fenced' },
  ],
  ['row 14: unclosed thinking', `<think>\nA draft:\n${fence(GOOD)}\nbut`, 'no_final_answer'],
  ['row 14: unclosed after a closed one', `<think>a</think><think>\n${fence(GOOD)}`, 'no_final_answer'],
  [
    'a program about thinking tags',
    fence('import re\n\ndef f(s):\n    return re.sub(r"<think>.*?</think>", "", s)'),
    { code: 'import re\n\ndef f(s):\n    return re.sub(r"<think>.*?</think>", "", s)', rule: 'fenced' },
  ],
  ['row 16: whitespace', ' \n\t', 'empty'],
  [
    'row 17: prose then code with blank lines',
    `Here it is, don't worry (easy):\n\nfrom typing import List\n\n\n@cache\n${GOOD}\n\nIt isn't hard.`,
    { code: `from typing import List\n\n\n@cache\n${GOOD}`, rule: 'unfenced' },
  ],
  [
    'row 20: last definition wins, everything stays',
    fence(
      `from __future__ import annotations\nimport sys\ntry:\n    import numpy\nexcept ImportError:\n    numpy = None\nfrom functools import lru_cache\n\nsys.setrecursionlimit(10000)\nA, B = 1, 2\n\n@lru_cache(None)\ndef helper(n):\n    print(n)\n\ndef f(n):\n    return 1\n\ndef f(n):\n    return A`,
    ),
    {
      code: `from __future__ import annotations\nimport sys\ntry:\n    import numpy\nexcept ImportError:\n    numpy = None\nfrom functools import lru_cache\n\nsys.setrecursionlimit(10000)\nA, B = 1, 2\n\n@lru_cache(None)\ndef helper(n):\n    print(n)\n\ndef f(n):\n    return 1\n\ndef f(n):\n    return A`,
      rule: 'fenced',
    },
  ],
  [
    'row 22: short final fix wins over a long draft',
    `${fence('def f(n):\n    a = 1\n    b = 2\n    c = 3\n    return a + b + c')}\nNo, wrong!\n${fence('def f(n):\n    return n')}`,
    { code: 'def f(n):\n    return n', rule: 'fenced' },
  ],
  [
    'a final fix brings the helpers it uses',
    `${fence('import math\nLIMIT = 3\n\ndef helper(n):\n    return math.sqrt(n) + LIMIT\n\ndef unused(): pass\n\ndef f(n):\n    return helper(n)')}\nFixed:\n${fence('def f(n):\n    return helper(n) + 1')}`,
    {
      code: 'import math\nLIMIT = 3\ndef helper(n):\n    return math.sqrt(n) + LIMIT\n\ndef f(n):\n    return helper(n) + 1',
      rule: 'fenced+helpers',
    },
  ],
  [
    'a usage example after the answer',
    `${fence(GOOD)}\nUse it:\n${fence('print(f(2))\nassert f(2) == 9')}`,
    { code: GOOD, rule: 'fenced' },
  ],
  [
    'own wrong asserts are no part of the program',
    fence(`${GOOD}\n\n# tests\nassert f(1) == 5\nprint("ok")`),
    { code: `${GOOD}\n\n# tests\n\nprint("ok")`, rule: 'fenced+tests-dropped' },
  ],
  [
    'a broken last block loses to a whole one',
    `${fence(GOOD)}\n${fence('def f(n):\n    return (')}`,
    { code: GOOD, rule: 'fenced' },
  ],
  ['only a broken block', fence('def f(n):\n    return ('), { code: 'def f(n):\n    return (', rule: 'fenced' }],
  ['tildes', fence(GOOD, 'py', '~~~'), { code: GOOD, rule: 'fenced' }],
  ['four backticks', fence(GOOD, 'python', '````'), { code: GOOD, rule: 'fenced' }],
  ['block in a document block', `\`\`\`markdown\n# Answer\n${fence(GOOD)}\n\`\`\``, { code: GOOD, rule: 'fenced' }],
  ['indented fence', `1. Do this:\n   ${fence(GOOD).replaceAll('\n', '\n   ')}`, { code: GOOD, rule: 'fenced' }],
  ['fence in a list item', `- ${fence(GOOD).replaceAll('\n', '\n  ')}`, { code: GOOD, rule: 'fenced' }],
  ['quoted block', fence(GOOD).replace(/^/gm, '> '), { code: GOOD, rule: 'fenced' }],
  ['closing fence behind the code', `\`\`\`python\n${GOOD}\`\`\`\nThat is all.`, { code: GOOD, rule: 'fenced' }],
  ['one-line block', '```python def f(n): return n```', { code: 'def f(n): return n', rule: 'fenced' }],
  [
    'fences in a docstring',
    fence('def f(n):\n    """Example:\n    ```python\n    f(1)\n    ```\n    """\n    return n'),
    { code: 'def f(n):\n    """Example:\n    ```python\n    f(1)\n    ```\n    """\n    return n', rule: 'fenced' },
  ],
  [
    'an open docstring does not swallow the answer',
    `${fence('def f(n):\n    """Draft')}\nBetter:\n${fence(GOOD)}`,
    { code: GOOD, rule: 'fenced' },
  ],
  [
    'indented code without fences',
    `Answer:\n\n    ${GOOD.replaceAll('\n', '\n    ')}\n`,
    { code: GOOD, rule: 'unfenced' },
  ],
  [
    'multi-line statements without fences',
    `The list (see below) helps.\nDATA = [\n1,\n2,\n]\n${GOOD}\nHope it helps!`,
    { code: `DATA = [\n1,\n2,\n]\n${GOOD}`, rule: 'unfenced' },
  ],
  [
    'HTML entities',
    fence('def f(n):\n    return 1 if n &lt; 2 &amp;&amp; n else &quot;&quot;'),
    { code: 'def f(n):\n    return 1 if n &lt; 2 &amp;&amp; n else &quot;&quot;', rule: 'fenced' },
  ],
  [
    'HTML entities that hide good code',
    fence('def f(n):\n    return n &lt; 2 or n &gt; &quot;a&quot;'),
    { code: 'def f(n):\n    return n < 2 or n > "a"', rule: 'fenced+unescaped' },
  ],
  [
    'entities that belong to the program',
    fence('def f(n):\n    return n.replace("<", "&lt;")'),
    { code: 'def f(n):\n    return n.replace("<", "&lt;")', rule: 'fenced' },
  ],
  ['carriage returns, BOM, NUL', `\uFEFF${fence(GOOD).replaceAll('\n', '\r\n')}\0`, { code: GOOD, rule: 'fenced' }],
  ['lone surrogate', fence(`${GOOD}  # \ud800`), { code: `${GOOD}  # \uFFFD`, rule: 'fenced' }],
  ['lambda', fence('f = lambda n: n'), { code: 'f = lambda n: n', rule: 'fenced' }],
  [
    'conditional definition',
    fence('if True:\n    def f(n):\n        return n'),
    { code: 'if True:\n    def f(n):\n        return n', rule: 'fenced' },
  ],
  ['a method is no function', fence('class Solution:\n    def f(self, n):\n        return n'), 'no_code'],
  ['another function', fence('def g(n):\n    return n'), 'no_code'],
  ['prose', 'I cannot help with f, sorry.', 'no_code'],
  ['refused', fence(GOOD), 'refused', { kind: 'refused' }],
  ['reasoning only', '', 'no_final_answer', { kind: 'no_final_answer' }],
  [
    'truncated explanation after a closed block',
    `${fence(GOOD)}\nThis works because`,
    { code: GOOD, rule: 'fenced' },
    { kind: 'truncated' },
  ],
  [
    'truncated example after a closed block',
    `${fence(GOOD)}\n\`\`\`python\nprint(f(`,
    { code: GOOD, rule: 'fenced' },
    { kind: 'truncated' },
  ],
  [
    'truncated rewriting after a closed draft',
    `${fence(GOOD)}\nWrong!\n\`\`\`python\ndef f(n):\n    return`,
    'truncated',
    { kind: 'truncated' },
  ],
  ['truncated, unfenced, looks complete', GOOD, 'truncated', { kind: 'truncated' }],
  [
    'body continues the statement',
    '    return list(range(n))\n',
    { code: `${humanEval.statement}    return list(range(n))`, rule: 'body' },
    { problem: humanEval },
  ],
  [
    'body in a block',
    fence('    return list(range(n))'),
    { code: `${humanEval.statement}    return list(range(n))`, rule: 'fenced-body' },
    { problem: humanEval },
  ],
  [
    'body whose first indentation was trimmed',
    'result = []\n    for i in range(n):\n        result.append(i)\n    return result',
    {
      code: `${humanEval.statement}    result = []\n    for i in range(n):\n        result.append(i)\n    return result`,
      rule: 'body',
    },
    { problem: humanEval },
  ],
  [
    'body without indentation',
    fence('for i in range(n):\n    pass\nreturn []'),
    { code: `${humanEval.statement}    for i in range(n):\n        pass\n    return []`, rule: 'fenced-body' },
    { problem: humanEval },
  ],
  [
    'body in a block, then its use',
    `${fence('    return list(range(n))')}\nUse:\n${fence('x = f(2)\nprint(x)')}\nor\n${fence('from solution import f\nprint(f(2))')}`,
    { code: `${humanEval.statement}    return list(range(n))`, rule: 'fenced-body' },
    { problem: humanEval },
  ],
  [
    'the statement repeated, then a body',
    `${fence(humanEval.statement)}\nThe body:\n${fence('    return list(range(n))')}\n${fence('f(2)')}`,
    { code: `${humanEval.statement}    return list(range(n))`, rule: 'fenced-body' },
    { problem: humanEval },
  ],
  [
    'a body, then the signature',
    `${fence('return list(range(n))')}\nfor\n${fence('def f(n: int): ...')}`,
    { code: `${humanEval.statement}    return list(range(n))`, rule: 'fenced-body' },
    { problem: humanEval },
  ],
  [
    'a body without a result',
    fence('    n.sort()'),
    { code: `${humanEval.statement}    n.sort()`, rule: 'fenced-body' },
    { problem: humanEval },
  ],
  [
    'a stub and its use are no body',
    `${fence('def f(n): ...')}\n${fence('print(f(2))')}`,
    { code: 'from typing import List\n\ndef f(n): ...', rule: 'fenced+preamble' },
    { problem: humanEval },
  ],
  [
    'a fix that brings its test along',
    `${fence('def f(n):\n    return n - 1')}\nNo, wrong!\n${fence(`${GOOD}\n\ndef test_f():\n    assert f(1) == 2`)}`,
    { code: `${GOOD}\n\ndef test_f():\n    assert f(1) == 2`, rule: 'fenced' },
  ],
  [
    'signature repeated: the preamble is put back',
    fence('def f(n: int) -> List[int]:\n    return []'),
    { code: 'from typing import List\n\ndef f(n: int) -> List[int]:\n    return []', rule: 'fenced+preamble' },
    { problem: humanEval },
  ],
  [
    'own imports stay alone',
    fence('from typing import List\n\ndef f(n: int) -> List[int]:\n    return []'),
    { code: 'from typing import List\n\ndef f(n: int) -> List[int]:\n    return []', rule: 'fenced' },
    { problem: humanEval },
  ],
  [
    'future imports stay first',
    fence('from __future__ import annotations\ndef f(n): return []'),
    {
      code: 'from __future__ import annotations\nfrom typing import List\n\ndef f(n): return []',
      rule: 'fenced+preamble',
    },
    { problem: humanEval },
  ],
  ['prose is no body', 'Sorry', 'no_code', { problem: humanEval }],
  [
    'base model, row 10: no stop word',
    '    return list(range(n))',
    { code: `${humanEval.statement}    return list(range(n))`, rule: 'continuation' },
    { problem: humanEval, api: 'completions' },
  ],
  [
    'base model, cut at a stop word',
    '    return []\n\ndef g():\n    pass',
    { code: `${humanEval.statement}    return []\n`, rule: 'continuation' },
    { problem: humanEval, api: 'completions', kind: 'truncated' },
  ],
  ['base model, cut off', '    return [', 'truncated', { problem: humanEval, api: 'completions', kind: 'truncated' }],
  [
    'base model on a description',
    `${GOOD}\n\nassert f(1) == 2`,
    { code: GOOD, rule: 'completion' },
    { api: 'completions' },
  ],
  ['base model, cut at once', '\n\ndef f(n):\n    return []\n', 'no_code', { problem: humanEval, api: 'completions' }],
  ['base model, a description cut at once', '\nassert f(1) == 2', 'no_code', { api: 'completions' }],
  ['base model, imports only', 'from solution import f\n', 'no_code', { api: 'completions' }],
  [
    'stdio: a try of the function after the program',
    `${fence('def solve(s):\n    return int(s) * 2\n\nprint(solve(input()))')}\nTest it:\n${fence('print(solve("3"))  # 6')}`,
    { code: 'def solve(s):\n    return int(s) * 2\n\nprint(solve(input()))', rule: 'fenced' },
    { problem: stdio },
  ],
  [
    'stdio: a test with its own input',
    `${fence('import sys\nprint(sys.stdin.read())')}\n${fence('import io, sys\nsys.stdin = io.StringIO("3")\nprint(input())')}`,
    { code: 'import sys\nprint(sys.stdin.read())', rule: 'fenced' },
    { problem: stdio },
  ],
  [
    'stdio: a test from outside',
    `${fence('print(open(0).read())')}\n${fence('import subprocess\nprint(subprocess.run(["python", "a.py"], input="3", stdin=None))')}`,
    { code: 'print(open(0).read())', rule: 'fenced' },
    { problem: stdio },
  ],
  [
    'stdio: the last of two that read',
    `${fence('print(input())')}\nBetter:\n${fence('import fileinput\nfor l in fileinput.input():\n    print(l)')}`,
    { code: 'import fileinput\nfor l in fileinput.input():\n    print(l)', rule: 'fenced' },
    { problem: stdio },
  ],
  ['stdio: nothing to read', fence('print(42)'), { code: 'print(42)', rule: 'fenced' }, { problem: stdio }],
  [
    'stdio program, then its output',
    `${fence('n = int(input())\nprint(n + 1)')}\nOutput:\n${fence('42', '')}\n${fence('python3 main.py', 'bash')}`,
    { code: 'n = int(input())\nprint(n + 1)', rule: 'fenced' },
    { problem: stdio },
  ],
  ['stdio without a program', 'The answer is 42.', 'no_code', { problem: stdio }],
];

/** Blocks after the answer that name the entry point and are no answer. */
const AFTERWARDS: [name: string, block: string][] = [
  ['an import', 'from solution import f\nprint(f(1))'],
  ['a guarded import', 'try:\n    from sol import f\nexcept ImportError:\n    pass\nassert f(1) == 2'],
  ['an import under its name', 'from solution import g as f\nprint(f(1))'],
  ['a star import', 'from solution import *\nprint(f(1))'],
  [
    'a unittest file',
    'import unittest\nfrom m import f\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 2)',
  ],
  ['a pytest file', 'import pytest\nfrom m import f\n\ndef test_f():\n    assert f(1) == 2'],
  [
    'a test file with a copy',
    'import unittest\n\ndef f(n):\n    return n\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 2)',
  ],
  ['a fixture', 'import pytest\n@pytest.fixture\ndef f():\n    return 1'],
  ['the result under its name', 'f = f(1)\nprint(f)'],
  ['a number under its name', 'f = 5\nprint(f)'],
  ['a stub', 'def f(n): ...'],
  ['a stub with docstring', 'def f(n: int) -> int:\n    """Adds one."""\n    pass'],
  ['a stub that raises', 'def f(n):\n    raise NotImplementedError'],
  ['a wrapping', 'import functools\nf = functools.lru_cache(f)'],
];
for (const [name, block] of AFTERWARDS)
  test(`extraction: ${name} after the answer is not the answer`, () => {
    const expected = { code: `${GOOD}\n`, rule: 'fenced' };
    assert.deepEqual(extract(`${fence(GOOD)}\nThen:\n${fence(block)}`), expected);
    assert.deepEqual(
      extract(`${fence(GOOD)}\nThen:\n${fence(block)}\nand \`\`\`python\nf(`, { kind: 'truncated' }),
      expected,
    );
  });

test('extraction: an import of the entry point alone is no program', () => {
  assert.equal(extract(fence('from solution import f\nprint(f(1))')), 'no_code');
  assert.equal(extract('from solution import f\nprint(f(1))'), 'no_code');
});

test('extraction: what undoes the entry point in the same code goes, what wraps it stays', () => {
  for (const line of ['from solution import f', 'f = f(1)', 'def f(n): ...'])
    assert.deepEqual(extract(`${GOOD}\n\nNow try it.\n${line}\n`), {
      code: `${GOOD}\n`,
      rule: 'unfenced+tests-dropped',
    });
  assert.deepEqual(extract(fence(`${GOOD}\nf = cache(f)`)), { code: `${GOOD}\nf = cache(f)\n`, rule: 'fenced' });
});

const LATER: [name: string, answer: string, later: string, expected: string][] = [
  ['an import', 'def f(n):\n    return math.sqrt(n)', 'import math', 'import math\n\n'],
  [
    'a helper and its import',
    'def f(n):\n    return h(n)',
    'import math\ndef h(n):\n    return math.sqrt(n)',
    'import math\ndef h(n):\n    return math.sqrt(n)\n\n',
  ],
  ['a constant', 'def f(n):\n    return n + STEP', 'STEP = 2', 'STEP = 2\n\n'],
  [
    'no local of the same name',
    'def f(n):\n    for i in n:\n        r = i\n    return r',
    'n = [1]\ni = 2\nr = 3\nprint(f(n))',
    '',
  ],
  ['no result of the entry point', 'def f(n):\n    return n + STEP', 'STEP = f(1)', ''],
  ['no import beside the entry point', 'def f(n):\n    return h(n)', 'from solution import f, h', ''],
];
for (const [name, answer, later, before] of LATER)
  test(`extraction: a later block brings ${name}`, () => {
    const rule = before === '' ? 'fenced' : 'fenced+helpers';
    assert.deepEqual(extract(`${fence(answer)}\nAlso:\n${fence(later)}`), { code: `${before}${answer}\n`, rule });
  });

for (const line of [
  'while this works:',
  'for example:',
  'if needed:',
  'with care:',
  'try: it',
  'Complexity = O(n) for each n',
  'assert that it works',
  'Note(see below) (again)',
  'match for match:',
])
  test(`extraction: unfenced prose ${JSON.stringify(line)} is left out`, () =>
    assert.deepEqual(extract(`${line}\n\n${GOOD}\n\n${line}\n\nIt is easy.`), { code: `${GOOD}\n`, rule: 'unfenced' }));

test('extraction: unfenced statements with bodies stay', () => {
  const code = `try:\n    import q\nexcept ImportError:\n    q = None\nelse:\n    pass\nif q:\n\n    # why\n    A = 1\nelif not q:\n    A = 2\nelse:\n    A = 3\nmatch A:\n    case 1:\n        A = 4\nwhile A > 9:\n    A -= 1\nB = (1,\n2)\n${GOOD}`;
  assert.deepEqual(extract(`Here:\n${code}\nBye.`), { code: `${code}\n`, rule: 'unfenced' });
});

const MARKS = [
  '<|end|>',
  '<|endoftext|>',
  '<|im_end|>',
  '<|im_start|>',
  '<think>',
  '</think>',
  '<reason>',
  '<tool_call>',
  '</s>',
];
for (const mark of MARKS)
  test(`extraction: ${mark} in a literal or a comment of the program is its text`, () => {
    for (const line of [
      `s = "x ${mark} y"`,
      `s = f'a ${mark} b'`,
      `s = "\\\\" + "it's ${mark} so"`,
      `s = """a\n${mark}\nb ${mark}\n"""`,
      `s = 1  # up to ${mark} only`,
      `# ${mark} ends`,
    ]) {
      const code = `def f(n):\n    ${line}\n    return n`;
      assert.deepEqual(
        extract(`It isn't hard:\n${fence(code)}\nThat's it.${mark === '<|end|>' ? mark : ''}`),
        { code: `${code}\n`, rule: 'fenced' },
        line,
      );
    }
    const code = `def f(n):\n    return "x ${mark} y"`;
    assert.deepEqual(extract(code), { code: `${code}\n`, rule: 'unfenced' });
  });

test('extraction: marks that no literal holds still count', () => {
  assert.deepEqual(extract(`It's what's asked.</think>\n${fence(GOOD)}`), { code: `${GOOD}\n`, rule: 'fenced' });
  assert.deepEqual(extract(`\`\`\`python\n${GOOD}  # it's done<|im_end|>`), {
    code: `${GOOD}  # it's done\n`,
    rule: 'fenced',
  });
  assert.equal(extract(`<think>it's\n${fence(`${GOOD}\n    """`)}`), 'no_final_answer');
});

for (const [name, reply, expected, options] of rows) {
  test(`extraction: ${name}`, () => {
    const found = extract(reply, options);
    if (typeof expected === 'string' || typeof found === 'string') assert.deepEqual(found, expected);
    else assert.deepEqual({ ...found, code: found.code.trimEnd() }, { ...expected, code: expected.code.trimEnd() });
  });
}

for (const tag of ['think', 'thinking', 'thought', 'reasoning', 'reason']) {
  test(`extraction: row 13: <${tag}> blocks, fence inside and outside`, () => {
    const draft = fence('def f(n):\n    return "draft"');
    const expected = { code: `${GOOD}\n`, rule: 'fenced' };
    assert.deepEqual(extract(`<${tag}>${draft}</${tag}>\n${fence(GOOD)}`), expected);
    assert.deepEqual(extract(`\`\`\`\n<${tag}>\n${draft}\n</${tag}>\n\`\`\`\n${fence(GOOD)}`), expected);
    assert.deepEqual(extract(`${draft}</${tag}>\n${fence(GOOD)}`), expected, 'opened by the chat template');
    assert.deepEqual(extract(`<${tag}>a<${tag}>b</${tag}>${draft}</${tag}>\n${fence(GOOD)}`), expected, 'nested');
    assert.equal(extract(`<${tag}>${draft}`), 'no_final_answer');
  });
}

test('extraction never throws, and a program it returns defines the entry point', () => {
  const parts = [
    '```',
    '```python\n',
    '\n',
    '"""',
    'def f(n):\n',
    '    return 1\n',
    '<think>',
    '</think>',
    '<|im_end|>',
    '<tool_call>',
    '(',
    "'",
    '\\',
    '\0',
    '\ud800',
    '> ',
    '~~~',
    '# ',
    'x = ',
    'print(f(1))',
    'prose ',
  ];
  const replies = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...parts), { maxLength: 30 }).map((list) => list.join('')),
  );
  fc.assert(
    fc.property(
      replies,
      fc.constantFrom<ReplyKind>('ok', 'truncated'),
      fc.constantFrom(mbpp, humanEval, stdio),
      fc.constantFrom<'chat' | 'completions'>('chat', 'completions'),
      (text, kind, problem, api) => {
        const found = extract(text, { kind, problem, api });
        if (typeof found !== 'string' && problem.kind === 'function') assert.match(found.code, /\bf\b/);
      },
    ),
    { numRuns: 1000 },
  );
});

test('5 MB of anything is read in linear time', () => {
  for (const unit of [
    '```\n',
    'x = (\n',
    'x = """\n',
    '<think>',
    '</think>',
    '"<|im_end|>"',
    'a',
    'def f(n):\n',
    '```python\ndef f(n): a b a b\n```\n',
    '<tool_call>',
    '</s>',
    'f(\n',
    '"<think>',
    '\'"""<|end|>',
    '```\n""" <think>\n',
    'while x:\n',
    'a = 1\n',
  ]) {
    const text = unit.repeat(Math.ceil(5_000_000 / unit.length));
    const took = cpuMs(() => {
      extract(text);
    });
    assert.ok(took < 3000, `${JSON.stringify(unit)} took ${Math.round(took)} ms`);
  }
});

test('a program that prints nothing is no answer to a problem of input and output, and that is what is said', () => {
  const reply = { kind: 'ok', text: fence('total = 1 + 2'), reasoning: '', finishReason: 'stop' } as const;
  const found = extractProgram({ reply, problem: stdio, api: 'chat' });
  assert.deepEqual(found, {
    kind: 'unusable',
    reason: 'no_code',
    detail: 'The reply held no Python program that prints.',
  });
});
