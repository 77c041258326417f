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
  ['The verdict is correct.', true],
  ['Verdict: not correct', false],
  ['At first: Verdict: correct. No:\nVerdict: incorrect', false],
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
    for (const unit of ['verdict ', 'verdict: ', '*', ' ', 'correct\n'])
      readVerdict({
        kind: 'ok',
        text: unit.repeat(Math.ceil(1_000_000 / unit.length)),
        reasoning: '',
        finishReason: 'stop',
      });
  });
  assert.ok(took < 2000);
});
