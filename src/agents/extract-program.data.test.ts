import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { dataDir, withoutData } from '../../test/support/data.ts';
import type { Problem } from '../problems/problem.ts';
import { maskExpected } from '../python-syntax/mask-expected.ts';
import { parsePython } from '../python-syntax/parse-python.ts';
import { extractProgram } from './extract-program.ts';

function rows(path: string): Record<string, unknown>[] {
  const text = gunzipSync(readFileSync(join(dataDir ?? '', path))).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Record<string, unknown> => JSON.parse(line));
}

test('every canonical HumanEval solution is found in each form a model sends it', { skip: withoutData }, () => {
  for (const row of rows('humaneval/HumanEval.jsonl.gz')) {
    const [statement, entryPoint, solution] = [
      String(row.prompt),
      String(row.entry_point),
      String(row.canonical_solution),
    ];
    const at = statement.lastIndexOf(`def ${entryPoint}(`);
    const preamble = statement.slice(0, at);
    const problem: Problem = {
      taskId: String(row.task_id),
      kind: 'function',
      entryPoint,
      form: 'completion',
      statement,
      preamble,
      visibleTests: [],
    };
    const whole = statement + solution;
    const alone = statement.slice(at) + solution;
    const forms = {
      whole: `Sure, here's it:\n\`\`\`python\n${whole}\`\`\`\nIt isn't hard.`,
      alone: `\`\`\`python\n${alone}\`\`\``,
      unfenced: alone,
      body: solution,
      trimmed: solution.trim(),
      'fenced body': `\`\`\`python\n${solution}\`\`\``,
    };
    for (const [form, text] of Object.entries(forms)) {
      const found = extractProgram({
        reply: { kind: 'ok', text, reasoning: '', finishReason: 'stop' },
        problem,
        api: 'chat',
      });
      assert.equal(found.kind, 'program', `${problem.taskId} as ${form}`);
      if (found.kind !== 'program') continue;
      for (const line of `${preamble}\n${solution}`.split('\n'))
        assert.ok(found.code.includes(line.trim()), `${problem.taskId} as ${form} lost ${line}`);
    }
  }
});

test('every assert of MBPP shows its call and hides its value', { skip: withoutData }, () => {
  let plain = 0;
  for (const row of rows('mbpp/mbpp.jsonl.gz')) {
    const code = String(row.code);
    const list = Array.isArray(row.test_list) ? row.test_list.map(String) : [];
    for (const source of list) {
      const defined = parsePython(code.replaceAll('\r\n', '\n')).defines;
      const entryPoint = source.match(/\w+(?=\s*\()/g)?.find((name) => defined.has(name)) ?? '';
      const masked = maskExpected({ assertSource: source, entryPoint });
      assert.ok(masked !== undefined, `MBPP/${String(row.task_id)}: ${source}`);
      assert.ok(masked.expected !== undefined || !source.includes('=='), source);
      assert.ok(
        masked.comparison.includes('__prediction__') && !new RegExp(`\\b${entryPoint}\\b *\\(`).test(masked.comparison),
        source,
      );
      if (masked.shape === 'plain') plain += 1;
    }
  }
  assert.ok(plain > 2800, `${plain} plain asserts`);
});
