import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplyKind } from '../models/model.ts';
import { cpuMs } from '../python-syntax/cpu-ms.ts';
import { readVerdict } from './read-verdict.ts';

const rows: [text: string, expected: boolean | string, kind?: ReplyKind][] = [
  ['It holds.\nVerdict: correct', true],
  ['It is not.\nVerdict: incorrect', false],
  ['**Verdict:** Incorrect.', false],
  ['Verdict: **correct**', true],
  ['Verdict: "incorrect"', false],
  ['The verdict is correct.', 'no_answer'],
  ['Verdict is correct.', true],
  ['Final verdict — correct', true],
  ['- **Verdict**: Correct', true],
  ['> 3. Verdict: **incorrect**', false],
  ['### Verdict\n\n**Correct**', true],
  ['Verdict:\n\ncorrect', true],
  ['Verdict: correct (all tests pass)', true],
  ['Verdict: correct. No issues found.', true],
  ['Verdict: correct - it follows the statement', true],
  ['Verdict: incorrect, since the correct value is 3', false],
  ['Verdict: incorrect: it is not correct', false],
  ['Verdict: wrong', false],
  ['Verdict: No issues found; the program is correct.', 'no_answer'],
  ['Verdict: no errors', 'no_answer'],
  ['Verdict: no, it is correct', 'no_answer'],
  ['Verdict: not quite correct', 'no_answer'],
  ['Verdict: partially correct', 'no_answer'],
  ['Verdict: correctly handles all but fails on 0', 'no_answer'],
  ['Verdict: correct, but fails on 0', 'no_answer'],
  ["Verdict: correct. It doesn't handle 0.", 'no_answer'],
  ['Verdict: correct only for n > 0', 'no_answer'],
  ['Verdict: valid only for n>0, so incorrect', 'no_answer'],
  ['verdict: pass-by-reference bug, incorrect', 'no_answer'],
  ['Verdict: pass-by-value', 'no_answer'],
  ['Verdict: Correct/Incorrect: Correct', 'no_answer'],
  ['Verdict: "correct" or "incorrect"?', 'no_answer'],
  ['Verdict: "correct" or "incorrect"?\nVerdict: correct', true],
  ['Verdict: correct\nOn reflection:\nVerdict: correct only for n > 0', 'no_answer'],
  ['Verdict: incorrect or correct', 'no_answer'],
  ['Verdict: in correct', 'no_answer'],
  ['My result is 5, so the verdict: correct', 'no_answer'],
  ['Suppose the answer is right. Then f(2) is', 'no_answer'],
  ['Suppose the answer is right. Then f(2) is', 'truncated', 'truncated'],
  ['The given answer is wrong in my first try. It is 5 and matches.', 'no_answer'],
  ['Is the answer right?\nYes', 'truncated', 'truncated'],
  ['Verdict: correct', 'truncated', 'truncated'],
  ['Verdict: correct\nThat is', true, 'truncated'],
  ['Correct\nAt least for most inputs.', 'no_answer'],
  ['Verdict: not correct', false],
  ['At first:\nVerdict: correct\nNo:\nVerdict: incorrect', false],
  ['yes', true],
  ['No.', false],
  ['Reasons …\nIncorrect', false],
  ['<think>Verdict: incorrect</think>Verdict: correct', true],
  ['The correct result is 3, so the test is wrong', 'no_answer'],
  ['Step 1: the result', 'truncated', 'truncated'],
  ['<think>Verdict: correct', 'no_final_answer'],
  ['', 'empty'],
  ['Verdict: correct', 'refused', 'refused'],
];
for (const [text, expected, kind = 'ok'] of rows) {
  test(`verdict in ${JSON.stringify(text)}`, () => {
    const result = readVerdict({ kind, text, reasoning: '', finishReason: 'stop' });
    assert.equal(result.kind === 'judgement' ? result.accept : result.reason, expected);
  });
}

test('a verdict is found in linear time', () => {
  const took = cpuMs(() => {
    for (const unit of [
      'verdict ',
      'verdict: ',
      '*',
      ' ',
      'correct\n',
      'verdict\n',
      '"',
      'Verdict: correct, not ',
      '1.',
      '"a\n',
    ])
      readVerdict({
        kind: 'ok',
        text: unit.repeat(Math.ceil(1_000_000 / unit.length)),
        reasoning: '',
        finishReason: 'stop',
      });
  });
  assert.ok(took < 2000);
});
