import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { dataDir, withoutData } from '../../test/support/data.ts';
import { openBenchmark } from '../problems/benchmark.ts';
import { openHiddenTests } from '../problems/hidden.ts';
import { withoutDocker } from '../sandbox/testing.ts';

const bin = join(import.meta.dirname, '../../bin/qualityflow.mjs');
const folder = mkdtempSync(join(tmpdir(), 'qualityflow-evaluate-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const home = join(folder, 'home');

interface Line {
  task_id: string;
  sample: number;
  verdict: string;
  base: string | null;
  plus: string | null;
  detail: string;
  firstFailure: { test: string; actual?: string; expected?: string } | null;
}

function start(args: string[]) {
  const { DOCKER_HOST, PATH, HOME } = process.env;
  const env = { DOCKER_HOST, PATH, HOME, QUALITYFLOW_HOME: home, QUALITYFLOW_DATA_DIR: dataDir };
  const child = spawn(process.execPath, [bin, 'evaluate', ...args], { cwd: folder, env });
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  return { child, ended };
}

async function evaluate(args: string[], stdin = '') {
  const { child, ended } = start(args);
  child.stdin.end(stdin);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

async function evaluateJson(args: string[], stdin?: string) {
  const { code, stdout, stderr } = await evaluate([...args, '--json'], stdin);
  assert.equal(code, 0, stderr);
  return { summary: JSON.parse(stdout), stderr };
}

function lines(name: string): Line[] {
  return readFileSync(join(folder, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const jsonl = (samples: readonly object[]) => samples.map((sample) => `${JSON.stringify(sample)}\n`).join('');

async function rightOnes(benchmark: string): Promise<{ task_id: string; solution: string; entryPoint: string }[]> {
  const source = { benchmark, home, dataDir };
  const [open, sealed] = [await openBenchmark(source), await openHiddenTests(source)];
  return open.taskIds.map((task_id) => ({
    task_id,
    solution: sealed.hidden(task_id).canonical,
    entryPoint: open.problem(task_id).entryPoint,
  }));
}

describe('evaluate', { skip: withoutDocker, timeout: 600_000 }, () => {
  test('grades each program once, says where each stands, and goes on from its results', async () => {
    const right = (await rightOnes('mini')).slice(0, 3);
    const [first, second] = right;
    assert.ok(first !== undefined && second !== undefined);
    const wrong = { ...second, solution: `def ${second.entryPoint}(*args):\n    return "\u001b[2J"\n` };
    const samples = [...right, first, wrong, wrong, { ...first, solution: 'import os\nos._exit(0)\n' }];
    writeFileSync(join(folder, 's.jsonl'), jsonl(samples));

    const { summary } = await evaluateJson(['s.jsonl', '--benchmark', 'mini', '--k', '1,2']);
    const { benchmark, total, attempted, samples: count, programs, passAt, passAtOfTotal, verdicts, base } = summary;
    assert.deepEqual([benchmark, total, attempted, count, programs, base], ['mini', 24, 3, 7, 5, null]);
    assert.deepEqual(verdicts, { pass: 4, wrong: 2, error: 1 });
    assert.ok(Math.abs(passAt[1] - (2 / 3 + 1 / 3 + 1) / 3) < 1e-9);
    assert.ok(Math.abs(passAtOfTotal[1] - 2 / 24) < 1e-9);
    assert.equal(passAt[2], null);

    const results = lines('s.results.jsonl');
    assert.deepEqual(
      results.map(({ task_id, sample, verdict }) => [task_id, sample, verdict]),
      [
        [first.task_id, 0, 'pass'],
        [second.task_id, 0, 'pass'],
        [right[2]?.task_id, 0, 'pass'],
        [first.task_id, 1, 'pass'],
        [second.task_id, 1, 'wrong'],
        [second.task_id, 2, 'wrong'],
        [first.task_id, 2, 'error'],
      ],
    );
    assert.match(results[4]?.firstFailure?.test ?? '', new RegExp(second.entryPoint));
    assert.match(results[4]?.detail ?? '', /got .*x1b\[2J.*, expected/);
    assert.match(results[6]?.detail ?? '', /exited early with status 0/);

    // What stands in the file is believed; a verdict that only this run could know shows that nothing was graded anew.
    const path = join(folder, 's.results.jsonl');
    const edited = readFileSync(path, 'utf8').replace('exited early with status 0', 'read from the file');
    const torn = edited.split('\n').slice(2).join('\n');
    writeFileSync(path, `${torn}{"task_id":"${first.task_id}","samp`);
    const again = await evaluateJson(['s.jsonl', '--benchmark', 'mini', '--k', '1,2']);
    assert.deepEqual(again.summary, summary);
    assert.match(again.stderr, /6 samples were graded by an earlier run/);
    assert.match(lines('s.results.jsonl')[6]?.detail ?? '', /read from the file/);

    const own = await evaluate(['s.jsonl', '--benchmark', 'mini', '--limits', 'evalplus']);
    assert.match(own.stdout, /^mini: 3\/24 attempted, 7 samples \(5 different programs\), limits: evalplus\n/);
    assert.match(own.stdout, /pass@1 {2}66\.7 %; over all 24: 8\.3 %\npass 4 · wrong 2 · error 1\n/);
    assert.doesNotMatch(own.stderr, /earlier run/);
  });

  test('reads standard input and folders', async () => {
    const [first, second] = await rightOnes('mini');
    assert.ok(first !== undefined && second !== undefined);
    const piped = await evaluateJson(['-', '--out', 'piped.jsonl', '--benchmark', 'mini'], jsonl([first]));
    assert.deepEqual([piped.summary.attempted, piped.summary.passAt[1]], [1, 1]);
    assert.deepEqual(
      lines('piped.jsonl').map(({ task_id }) => task_id),
      [first.task_id],
    );
    const problems = join(folder, 'own.jsonl');
    const own = { entry_point: 'f', prompt: 'Write f.', hidden_tests: ['assert f(1) == 2'] };
    writeFileSync(problems, jsonl([{ ...own, task_id: 'own/1' }]));
    mkdirSync(join(folder, 'tree/own_1'), { recursive: true });
    writeFileSync(join(folder, 'tree/own_1/0.py'), 'def f(x): return x + 1\n');
    writeFileSync(join(folder, 'tree/own_1/1.py'), 'def f(x): return x\n');
    const { summary } = await evaluateJson(['tree', '--benchmark', 'own.jsonl']);
    assert.deepEqual([summary.passAt[1], summary.verdicts], [0.5, { pass: 1, wrong: 1 }]);
    assert.ok(existsSync(join(folder, 'tree.results.jsonl')));
  });

  test('Ctrl-C keeps what was graded', async () => {
    const own = { entry_point: 'f', prompt: 'Write f.', hidden_tests: ['assert f(1) == 1'] };
    writeFileSync(
      join(folder, 'two.jsonl'),
      jsonl([
        { ...own, task_id: 'a' },
        { ...own, task_id: 'b' },
      ]),
    );
    const endless = 'import time\ndef f(x):\n    time.sleep(25)\n';
    writeFileSync(
      join(folder, 'i.jsonl'),
      jsonl([
        { task_id: 'a', solution: 'def f(x): return x' },
        { task_id: 'b', solution: endless },
      ]),
    );
    const { child, ended } = start(['i.jsonl', '--benchmark', 'two.jsonl']);
    const path = join(folder, 'i.results.jsonl');
    while (!existsSync(path) || readFileSync(path, 'utf8') === '') {
      assert.equal(child.exitCode, null);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    child.kill('SIGINT');
    const stderr = await text(child.stderr);
    assert.equal(await ended, 130, stderr);
    assert.match(stderr, /The same command goes on from/);
    assert.deepEqual(
      lines('i.results.jsonl').map(({ task_id, verdict }) => [task_id, verdict]),
      [['a', 'pass']],
    );
  });
});

describe('evaluate on the published benchmarks', { skip: withoutDocker || withoutData, timeout: 900_000 }, () => {
  test('HumanEval: every canonical completion passes, every program that returns None or raises does not', async () => {
    const right = await rightOnes('humaneval');
    const samples = right.flatMap(({ task_id, solution, entryPoint }, index) => [
      { task_id, solution },
      {
        task_id,
        solution: `def ${entryPoint}(*args):\n    ${index % 2 === 0 ? 'return None' : 'raise KeyError(1)'}\n`,
      },
    ]);
    writeFileSync(join(folder, 'he.jsonl'), jsonl(samples));
    const { summary } = await evaluateJson(['he.jsonl', '--benchmark', 'humaneval']);
    assert.deepEqual([summary.attempted, summary.total, summary.passAt[1]], [164, 164, 0.5]);
    assert.deepEqual(
      lines('he.results.jsonl').filter(({ sample, verdict }) => (sample === 0) !== (verdict === 'pass')),
      [],
    );
  });

  test('HumanEval+: base and plus apart, and a part of the tasks is said to be one', async () => {
    const right = (await rightOnes('humaneval+')).slice(0, 10);
    // Right for every base test of has_close_elements, wrong beyond: the longest of them has six numbers.
    const [first] = right;
    assert.equal(first?.entryPoint, 'has_close_elements');
    const overfit = `${first.solution}\nright = has_close_elements\ndef has_close_elements(numbers, threshold):\n    return len(numbers) <= 6 and right(numbers, threshold)\n`;
    writeFileSync(join(folder, 'plus.jsonl'), jsonl([...right, { task_id: '0', solution: overfit }]));
    const { summary } = await evaluateJson(['plus.jsonl', '--benchmark', 'humaneval+']);
    assert.deepEqual([summary.attempted, summary.total, summary.limits], [10, 164, 'evalplus']);
    assert.deepEqual([summary.passAt[1], summary.base.passAt[1], summary.plus.passAt[1]], [0.95, 1, 0.95]);
    assert.deepEqual(
      lines('plus.results.jsonl')
        .filter(({ verdict }) => verdict !== 'pass')
        .map(({ task_id, sample, verdict, base, plus }) => [task_id, sample, verdict, base, plus]),
      [['HumanEval/0', 1, 'wrong', 'pass', 'wrong']],
    );
  });
});
