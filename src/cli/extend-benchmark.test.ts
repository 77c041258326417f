import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, test } from 'node:test';
import { dataDir, withoutData } from '../../test/support/data.ts';
import { openBenchmark } from '../problems/benchmark.ts';
import { readMini } from '../problems/mini/mini.ts';
import { parseSpecValue } from '../spec/parse-spec.ts';
import type { SweepRow } from '../store/store.ts';
import type { Context } from './context.ts';
import { refuseSecondExtension, specOnto } from './extend-benchmark.ts';
import { UserError } from './user-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'qualityflow-onto-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const mini = readMini().slice(0, 4);
function file(name: string, change: (task: (typeof mini)[number], index: number) => object): string {
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, mini.map((task, index) => JSON.stringify({ ...task, ...change(task, index) })).join('\n'));
  return path;
}
const base = file('base', () => ({}));

async function onto(benchmark: string, raw: Record<string, unknown> = {}, fork?: string) {
  let told = '';
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      told += String(chunk);
      done();
    },
  });
  const context: Context = {
    stdout: stderr,
    stderr,
    interactive: false,
    env: {},
    cwd: folder,
    home: folder,
    onInterrupt: () => () => {},
  };
  const parsed = parseSpecValue({ name: 'a', benchmark: base, strategy: 'zero-shot', model: 'm', ...raw });
  if (parsed.kind === 'problems') return assert.fail(JSON.stringify(parsed.problems));
  const { spec } = parsed;
  const before = await openBenchmark({ benchmark: spec.benchmark, home: folder, dataDir });
  const sweep: SweepRow = {
    name: 'a',
    spec,
    specHash: '',
    datasetSha256: before.sha256,
    scripted: true,
    endpointIdentity: 'scripted',
    planned: 0,
    state: 'completed',
    stateReason: '',
    createdAt: '',
    updatedAt: '',
    tasks: before.taskIds.slice(0, spec.limit),
  };
  const made = await specOnto({ context, name: 'a', benchmark, fork, dataDir }, sweep);
  return { spec: made, told, tasks: sweep.tasks };
}

test('the same tasks keep the selection, so that the new sweep can grow like the old one', async () => {
  const plus = file('plus', () => ({ hidden_tests: ['assert True'] }));
  const { spec, told } = await onto(plus, { limit: 3, samples: 2, budget: { tokens: 9 } });
  assert.deepEqual(
    [spec.name, spec.benchmark, spec.limit, spec.tasks, spec.samples],
    ['a-plus', plus, 3, undefined, 2],
  );
  assert.equal(told, '');
  assert.equal((await onto(plus, {}, 'strict')).spec.name, 'strict');
});

test('tasks that are worded otherwise are told, those that are not there are left out', async () => {
  const other = file('other', ({ task_id }, index) => ({
    ...(index === 1 ? { prompt: `${mini[1]?.prompt ?? ''}\n# Be quick.\n` } : {}),
    task_id: index === 0 ? 'new/one' : task_id,
  }));
  const { spec, told, tasks } = await onto(other);
  assert.deepEqual(spec.tasks, tasks.slice(1));
  assert.match(
    told,
    /^1 task of a is not in .*other\.jsonl, and left out\.\n1 task of 3 is worded otherwise in .*: .*\n$/,
  );
  assert.ok(told.includes(`asked anew: ${mini[1]?.task_id}`), told);
});

test('a benchmark without any of its tasks is refused, and one on which the strategy would run its own tests', async () => {
  const strange = file('strange', (_task, index) => ({ task_id: `x/${index}` }));
  const refused = (words: RegExp) => (error: unknown) => error instanceof UserError && words.test(error.message);
  await assert.rejects(onto(strange), refused(/has none of the tasks of a/));
  await assert.rejects(
    onto('mbpp+', { strategy: 'relaxed' }),
    refused(/python \(Relaxed\) cannot be used with mbpp\+/),
  );
});

test('the same extension again is sent to the sweep that is there', async () => {
  const plus = file('plus', () => ({ hidden_tests: ['assert True'] }));
  const { spec } = await onto(plus);
  const there = { name: 'a-plus', spec };
  assert.throws(
    () => refuseSecondExtension('a', there, spec),
    (error) => error instanceof UserError && error.remedy.includes('`qualityflow sweep extend a-plus --limit N`'),
  );
  refuseSecondExtension('a', there, { ...spec, benchmark: base });
});

test('humaneval and humaneval+ differ in the words of one task', { skip: withoutData }, async () => {
  const { spec, told } = await onto('humaneval+', { benchmark: 'humaneval' });
  assert.equal(spec.tasks, undefined);
  assert.equal(told, '1 task of 164 is worded otherwise in humaneval+, and asked anew: HumanEval/115.\n');
});
